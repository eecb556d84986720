"""A whole figure, layer by layer."""

from __future__ import annotations

from mvpipe.render.animatic import garment, hair
from mvpipe.render.animatic.canvas import Canvas, Colour
from mvpipe.render.animatic.face import Pose, Tones, draw_features, draw_head
from mvpipe.render.animatic.look import Look
from mvpipe.render.animatic.mouth import draw_beard, draw_moustache, draw_mouth


def draw_figure(canvas: Canvas, look: Look, pose: Pose, tones: Tones, rim: Colour) -> None:
    """Everything the canvas's window shows of the figure; `rim` is the colour of the light behind it."""
    hair.draw_behind(canvas, look, tones)
    garment.draw_behind(canvas, look, tones)
    garment.draw_body(canvas, look, tones, pose.opening)
    skin = draw_head(canvas, look, pose, tones)
    draw_beard(canvas, look, pose, tones, skin)
    draw_mouth(canvas, look, pose, tones)
    draw_moustache(canvas, look, tones)
    draw_features(canvas, look, pose, tones)
    hair.draw_glasses(canvas, look, tones)
    hair.draw_shadow(canvas, look, tones, skin)
    hair.draw_over(canvas, look, tones)
    canvas.rim(rim, 0.032, 0.8)
