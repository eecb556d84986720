"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const data = JSON.parse($("data").textContent);
  const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const peak = bytes(data.peak), effort = bytes(data.effort);
  const wave = $("wave"), whole = $("whole"), tip = $("tip");
  const cards = new Map([...document.querySelectorAll("article")].map((card) => [Number(card.dataset.shot), card]));
  const narrow = Math.min(2, data.seconds);
  let view = [0, data.seconds], selected = 1, stopAt = null, startAt = 0, looping = false, audio = null, source = "song";
  const players = {};

  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
  const clock = (t) => {
    const ms = Math.floor(Math.max(t, 0) * 1000), s = Math.floor(ms / 1000) % 60, m = Math.floor(ms / 60000) % 60;
    const h = Math.floor(ms / 3600000), two = (n) => String(n).padStart(2, "0");
    return (h ? h + ":" + two(m) : m) + ":" + two(s) + "." + String(ms % 1000).padStart(3, "0");
  };
  const sungAt = (() => {
    const map = new Uint8Array(peak.length);
    for (const [a, b] of data.phrases) map.fill(1, Math.floor(a * data.hops), Math.ceil(b * data.hops));
    return map;
  })();

  function fit(canvas) {
    const scale = window.devicePixelRatio || 1, box = canvas.getBoundingClientRect();
    canvas.width = Math.max(1, Math.round(box.width * scale));
    canvas.height = Math.max(1, Math.round(box.height * scale));
    const pen = canvas.getContext("2d");
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    return [pen, box.width, box.height];
  }
  function most(values, a, b) {
    let high = 0;
    for (let i = Math.max(0, Math.floor(a)), end = Math.min(values.length, Math.max(Math.ceil(b), Math.floor(a) + 1)); i < end; i++)
      if (values[i] > high) high = values[i];
    return high / 255;
  }
  function written(pen, text, x, y, room) {
    if (room < 8) return 0;
    let shown = text;
    if (pen.measureText(shown).width > room) {
      while (shown && pen.measureText(shown + "…").width > room) shown = [...shown].slice(0, -1).join("");
      shown = shown ? shown + "…" : "";
    }
    pen.fillText(shown, x, y);
    return pen.measureText(shown).width;
  }

  function draw() {
    const [pen, width, height] = fit(wave), [from, to] = view;
    const x = (t) => (t - from) / (to - from) * width;
    const inView = (a, b) => b > from && a < to;
    pen.clearRect(0, 0, width, height);
    pen.textBaseline = "middle";
    for (const shot of data.shots) {
      if (!inView(...shot.cut)) continue;
      const a = Math.max(x(shot.cut[0]), 0), b = Math.min(x(shot.cut[1]), width);
      pen.fillStyle = colour(shot.n % 2 ? "panel" : "panel2");
      pen.fillRect(a, 20, b - a, height - 42);
      if (shot.n === selected) {
        pen.fillStyle = colour("handle");
        pen.fillRect(x(shot.window[0]), 20, x(shot.window[1]) - x(shot.window[0]), height - 42);
        pen.strokeStyle = colour("accent"); pen.lineWidth = 1.5;
        pen.strokeRect(a + .5, 20.5, Math.max(b - a - 1, 1), height - 43);
      }
      pen.fillStyle = colour("ink"); pen.font = "600 12px system-ui, sans-serif";
      const used = written(pen, String(shot.n), a + 5, 30, b - a - 6);
      pen.fillStyle = colour("soft"); pen.font = "11px system-ui, sans-serif";
      written(pen, shot.short, a + 11 + used, 30, b - a - used - 16);
    }
    pen.font = "600 11px system-ui, sans-serif";
    for (const part of data.sections) {
      if (!inView(part.start, part.stop)) continue;
      const a = Math.max(x(part.start), 0) + 1, b = Math.min(x(part.stop), width) - 1;
      pen.fillStyle = colour("faint"); pen.fillRect(a, 15, b - a, 2);
      pen.fillStyle = colour("soft"); written(pen, part.name, a + 2, 8, b - a - 4);
    }
    const middle = 88, half = 42, base = 162, step = 3;
    for (let left = 0; left < width; left += step) {
      const a = (from + left / width * (to - from)) * data.hops, b = (from + (left + step) / width * (to - from)) * data.hops;
      const high = Math.max(Math.pow(most(peak, a, b), .8) * half, .75), sung = sungAt[Math.floor((a + b) / 2)];
      pen.fillStyle = colour(sung ? "sung" : "band");
      pen.fillRect(left, middle - high, 2, 2 * high);
      const much = most(effort, a, b) * 24;
      if (much > .5) { pen.fillStyle = colour(sung ? "voice" : "faint"); pen.fillRect(left, base - much, step, much); }
    }
    singers(pen, x, from, to, width);
    words(pen, x, from, to, width);
    for (const shot of data.shots) {
      if (shot.other !== null && shot.n === selected && inView(shot.other, shot.other + .01)) {
        pen.strokeStyle = colour("soft"); pen.setLineDash([3, 3]); pen.beginPath();
        pen.moveTo(x(shot.other), 40); pen.lineTo(x(shot.other), height - 22); pen.stroke(); pen.setLineDash([]);
      }
      if (shot.n === 1 || !inView(shot.cut[0], shot.cut[0] + .01)) continue;
      const at = x(shot.cut[0]);
      pen.strokeStyle = pen.fillStyle = colour(shot.kind_of_cut); pen.lineWidth = 1.5;
      pen.beginPath(); pen.moveTo(at, 20); pen.lineTo(at, height - 22); pen.stroke();
      pen.beginPath();
      if (shot.pinned) { pen.moveTo(at, 14); pen.lineTo(at + 5, 20); pen.lineTo(at, 26); pen.lineTo(at - 5, 20); }
      else { pen.moveTo(at - 5, 20); pen.lineTo(at + 5, 20); pen.lineTo(at, 27); }
      pen.fill();
    }
    ruler(pen, x, from, to, height, width);
    if (audio) {
      const at = x(audio.currentTime);
      pen.strokeStyle = colour("accent"); pen.lineWidth = 2; pen.beginPath();
      pen.moveTo(at, 18); pen.lineTo(at, height - 18); pen.stroke();
    }
    overview();
  }
  function singers(pen, x, from, to, width) {
    pen.font = "11px system-ui, sans-serif";
    for (const [start, stop, name, sure] of data.sung_by) {
      if (stop <= from || start >= to) continue;
      const a = Math.max(x(start), 0), b = Math.min(x(stop), width);
      pen.fillStyle = colour(sure ? "voice" : "faint"); pen.fillRect(a, 131, b - a, 1.5);
      pen.fillStyle = colour(sure ? "ink" : "soft"); written(pen, name, a + 2, 139, b - a - 4);
    }
  }
  function words(pen, x, from, to, width) {
    pen.font = "12px system-ui, sans-serif";
    for (const line of data.lines) {
      if (line.stop <= from || line.start >= to) continue;
      const a = x(line.start), b = x(line.stop), left = Math.max(a, 0);
      pen.globalAlpha = line.sure < .5 ? .55 : 1;
      pen.fillStyle = colour("sung"); pen.fillRect(left, 171, Math.min(b, width) - left, 1.5);
      const apart = line.words.length && (b - a) > pen.measureText(line.text).width * 1.25;
      pen.fillStyle = colour("ink");
      if (apart) for (const [text, start, stop] of line.words) {
        pen.fillStyle = colour("sung"); pen.fillRect(x(start), 168, 1, 7);
        pen.fillStyle = colour("ink"); written(pen, text, x(start) + 3, 185, Math.max(x(stop ?? line.stop) - x(start) - 3, 14));
      } else written(pen, line.text, left + 2, 185, b - left - 4);
      pen.globalAlpha = 1;
    }
  }
  function ruler(pen, x, from, to, height, width) {
    const steps = [.1, .2, .5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600];
    const step = steps.find((s) => s / (to - from) * width >= 74) || 1200;
    pen.font = "11px system-ui, sans-serif"; pen.textAlign = "center";
    for (let k = Math.ceil(from / step); k * step <= to; k++) {
      const t = k * step, at = x(t), label = clock(t + 1e-6);
      pen.fillStyle = colour("faint"); pen.fillRect(at, height - 21, 1, 6);
      pen.fillStyle = colour("soft");
      pen.fillText(step < 1 ? label.slice(0, -2) : label.slice(0, -4), Math.min(Math.max(at, 16), width - 16), height - 7);
    }
    pen.textAlign = "start"; pen.fillStyle = colour("soft");
    if ((to - from) < 240) for (const bar of data.bars) if (bar >= from && bar <= to) {
      pen.beginPath(); pen.arc(x(bar), height - 24, 1.6, 0, 7); pen.fill();
    }
  }
  function overview() {
    const [pen, width, height] = fit(whole);
    pen.fillStyle = colour("panel2"); pen.fillRect(0, 0, width, height);
    for (let left = 0; left < width; left += 2) {
      const a = left / width * peak.length, high = most(peak, a, a + 2 * peak.length / width) * (height - 4) / 2;
      pen.fillStyle = colour(sungAt[Math.floor(a)] ? "sung" : "band"); pen.fillRect(left, height / 2 - high, 1.5, Math.max(2 * high, 1));
    }
    const a = view[0] / data.seconds * width, b = view[1] / data.seconds * width;
    pen.strokeStyle = colour("accent"); pen.lineWidth = 2; pen.strokeRect(a + 1, 1, Math.max(b - a - 2, 3), height - 2);
  }

  function show(from, to) {
    const length = Math.min(Math.max(to - from, narrow), data.seconds);
    const start = Math.min(Math.max((from + to) / 2 - length / 2, 0), data.seconds - length);
    view = [start, start + length];
    requestAnimationFrame(draw);
  }
  function zoom(by, around) {
    const at = around ?? (view[0] + view[1]) / 2, length = Math.min(Math.max((view[1] - view[0]) * by, narrow), data.seconds);
    const share = (at - view[0]) / (view[1] - view[0]);
    const start = Math.min(Math.max(at - share * length, 0), data.seconds - length);
    view = [start, start + length];
    requestAnimationFrame(draw);
  }
  function select(n, { scroll = true, reveal = true } = {}) {
    selected = Math.min(Math.max(n, 1), data.shots.length);
    for (const [number, card] of cards) card.setAttribute("aria-current", String(number === selected));
    if (scroll) cards.get(selected).scrollIntoView({ block: "nearest" });
    const [a, b] = data.shots[selected - 1].window;
    if (reveal && (a < view[0] || b > view[1])) { const half = (view[1] - view[0]) / 2; show((a + b) / 2 - half, (a + b) / 2 + half); }
    requestAnimationFrame(draw);
  }
  const shotAt = (t) => (data.shots.find((shot) => t < shot.cut[1]) || data.shots[data.shots.length - 1]).n;

  function player(kind) {
    if (!players[kind] && data.audio[kind]) {
      const sound = new Blob([bytes(data.audio[kind])], { type: data.audio.type });
      players[kind] = new Audio(URL.createObjectURL(sound));
      players[kind].addEventListener("ended", () => { stopAt = null; label(); });
    }
    return players[kind] || null;
  }
  function play(from, to = null) {
    audio = audio || player(source);
    if (!audio) return;
    startAt = from; stopAt = to; audio.currentTime = Math.max(from, 0);
    audio.play().then(() => { label(); requestAnimationFrame(follow); }, () => {});
  }
  function pause() { if (audio) audio.pause(); stopAt = null; label(); }
  function toggle() { if (audio && !audio.paused) pause(); else play(audio ? audio.currentTime : data.shots[selected - 1].cut[0]); }
  function shot() { const [a, b] = data.shots[selected - 1].window; play(a, Math.min(b, data.seconds)); }
  function swap() {
    const other = source === "song" ? "voice" : "song";
    if (!data.audio[other]) return;
    const was = audio, running = was && !was.paused;
    source = other; audio = was ? player(source) : null;
    if (was) { was.pause(); audio.currentTime = was.currentTime; if (running) audio.play().then(() => requestAnimationFrame(follow), () => {}); }
    label();
  }
  function label() {
    $("play").textContent = audio && !audio.paused ? "Pause" : "Play";
    $("source").textContent = source === "song" ? "Song" : "Voice alone";
  }
  function follow() {
    if (!audio || audio.paused) { draw(); label(); return; }
    const t = audio.currentTime;
    $("clock").textContent = clock(t);
    if (stopAt !== null && t >= stopAt) { if (looping) audio.currentTime = Math.max(startAt, 0); else { pause(); } }
    if (stopAt === null && shotAt(t) !== selected) select(shotAt(t), { reveal: false });
    if (t > view[1] || t < view[0]) show(t, t + view[1] - view[0]); else draw();
    requestAnimationFrame(follow);
  }

  const timeAt = (event) => view[0] + (event.clientX - wave.getBoundingClientRect().left) / wave.clientWidth * (view[1] - view[0]);
  let drag = null;
  wave.addEventListener("wheel", (event) => {
    event.preventDefault();
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY) || event.shiftKey) {
      const by = (event.deltaX || event.deltaY) / wave.clientWidth * (view[1] - view[0]);
      show(view[0] + by, view[1] + by);
    } else zoom(Math.exp(event.deltaY * .0022), timeAt(event));
  }, { passive: false });
  wave.addEventListener("pointerdown", (event) => { drag = { x: event.clientX, view: [...view], moved: false }; wave.setPointerCapture(event.pointerId); });
  wave.addEventListener("pointermove", (event) => {
    if (!drag) { hover(event); return; }
    const by = (drag.x - event.clientX) / wave.clientWidth * (drag.view[1] - drag.view[0]);
    if (Math.abs(event.clientX - drag.x) > 4) drag.moved = true;
    if (drag.moved) show(drag.view[0] + by, drag.view[1] + by);
  });
  wave.addEventListener("pointerup", (event) => {
    if (drag && !drag.moved) {
      const t = timeAt(event);
      select(shotAt(t), { reveal: false });
      audio = audio || player(source);
      if (audio) { audio.currentTime = t; stopAt = null; $("clock").textContent = clock(t); requestAnimationFrame(draw); }
    }
    drag = null;
  });
  wave.addEventListener("pointerleave", () => { tip.hidden = true; });
  wave.addEventListener("dblclick", () => { const [a, b] = data.shots[selected - 1].window; show(a - .5, b + .5); });
  function hover(event) {
    const t = timeAt(event), reach = 7 / wave.clientWidth * (view[1] - view[0]);
    const cut = data.shots.find((one) => one.n > 1 && Math.abs(one.cut[0] - t) < reach);
    tip.hidden = !cut;
    if (!cut) return;
    tip.textContent = `shot ${cut.n} begins at ${clock(cut.cut[0])}\n${cut.why}` + (cut.runner ? `\nrunner-up: ${cut.runner}` : "");
    const box = $("desk").getBoundingClientRect();
    tip.style.left = Math.min(event.clientX - box.left + 14, box.width - 370) + "px";
    tip.style.top = event.clientY - box.top + 14 + "px";
  }
  function slide(event) {
    const at = (event.clientX - whole.getBoundingClientRect().left) / whole.clientWidth * data.seconds, half = (view[1] - view[0]) / 2;
    show(at - half, at + half);
  }
  whole.addEventListener("pointerdown", (event) => { whole.setPointerCapture(event.pointerId); slide(event); });
  whole.addEventListener("pointermove", (event) => { if (event.buttons) slide(event); });

  const loop = () => { looping = !looping; $("loop").setAttribute("aria-pressed", String(looping)); };
  const help = () => { const hidden = $("keys").hidden; $("keys").hidden = !hidden; $("help").setAttribute("aria-expanded", String(hidden)); };
  const press = { play: toggle, shotplay: shot, loop, source: swap, help, in: () => zoom(.5), out: () => zoom(2), fit: () => show(0, data.seconds) };
  for (const [id, does] of Object.entries(press)) $(id).addEventListener("click", does);
  for (const [number, card] of cards) {
    card.addEventListener("click", (event) => { select(number, { scroll: false }); if (event.target.closest("button")) shot(); });
    card.addEventListener("focus", () => select(number, { scroll: false }));
  }
  const keys = { " ": toggle, Enter: shot, l: loop, v: swap, "+": () => zoom(.5), "=": () => zoom(.5), "-": () => zoom(2),
    0: () => show(0, data.seconds), "?": help, ArrowLeft: () => select(selected - 1), ArrowRight: () => select(selected + 1),
    Home: () => select(1), End: () => select(data.shots.length) };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const does = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!does || (event.target.closest("button, summary") && (event.key === " " || event.key === "Enter"))) return;
    event.preventDefault(); does();
  });
  if (!data.audio.song) for (const id of ["play", "shotplay", "loop", "source"]) $(id).hidden = true;
  else if (!data.audio.voice) $("source").hidden = true;
  window.addEventListener("resize", () => requestAnimationFrame(draw));
  window.addEventListener("beforeprint", () => { show(0, data.seconds); draw(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  for (const swatch of document.querySelectorAll(".legend i")) swatch.style.background = `var(--${swatch.dataset.colour})`;
  select(1, { scroll: false });
  show(0, Math.min(data.seconds, 90));
})();
