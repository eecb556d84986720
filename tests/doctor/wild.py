"""Logs in other words: what other versions, systems and programs say of the failures that are known."""

from __future__ import annotations

TRACE = """\
Traceback (most recent call last):
  File "C:\\ComfyUI\\execution.py", line 510, in execute
    output_data, output_ui, has_subgraph = await get_output_data(prompt_id, unique_id, obj)
"""

TOLD = {
    "graph-capture": [
        TRACE + "RuntimeError: Cannot copy between CPU and CUDA tensors during CUDA graph capture"
        " unless the CPU tensor is pinned. Please use tensor.pin_memory().",
        "RuntimeError: CUDA error: operation failed due to a previous error during capture",
        "Warning: Attempting uncaptured free of a captured allocation with address 0x30 (function free_impl)",
    ],
    "music-noise": ["MiniMax Music 3 int8: the output is just noise, --disable-cuda-graphs fixes it"],
    "aimdo": [
        "!!! Exception during processing !!! aimdo memory compile error",
        "aimdo: 104 graph breaks so far\naimdo: 154 graph breaks so far",
    ],
    "allocator": [
        "RuntimeError: CUDA error: cudaMallocAsync returned hipErrorNotSupported [ZLUDA], error",
        "at c10/cuda/CUDAMallocAsyncAllocator.cpp:220",
    ],
    "operation-not-supported": [TRACE + "RuntimeError: CUDA driver error: operation not supported"],
    "driver-library": ["torch.AcceleratorError: CUDA error: shared object initialization failed"],
    "out-of-memory": [
        "torch.OutOfMemoryError: Allocation on device 0 would exceed allowed memory. (out of memory)",
        TRACE + "RuntimeError: CUDA error: out of memory",
        "hipErrorOutOfMemory: out of memory",
        "Got an OOM, unloading all loaded models.",
        "RuntimeError: CUDA out of memory. Tried to allocate 820.00 MiB (GPU 0; 7.98 GiB total capacity)",
    ],
    "host-memory": [
        "MemoryError",
        TRACE + "OSError: The paging file is too small for this operation to complete. (os error 1455)",
        "terminate called after throwing an instance of 'std::bad_alloc'",
    ],
    "gguf-bf16": [
        "No capable backend for 'rms_rope_split_half_':\n eager: q_scale: dtype torch.uint8 not in"
        " {torch.bfloat16, torch.float32, torch.float16}",
    ],
    "adaln-shape": [
        "ERROR lora diffusion_model.final_layer.adaln_proj.linear.weight The size of tensor a (8)"
        " must match the size of tensor b (2688) at non-singleton dimension 1",
    ],
    "lora-foreign": ["linear(): input and weight.T shapes cannot be multiplied (77x4096 and 5120x5376)"],
    "lora-keys": ["[WARNING] lora key not loaded: base_model.model.blocks.0.mlp.fc2.lora_A.weight"],
    "audio-scale": [
        "AttributeError: 'ModelSamplingAdvanced' object has no attribute 'audio_scale'",
        "ImportError: cannot import name 'ModelSamplingAV' from 'comfy.model_sampling'",
        "AttributeError: type object 'ModelType' has no attribute 'FLOW_AV'",
    ],
    "tokenizer-contract": ["The native MiniMax H3 tokenizer lacks the byte-token contract required"],
    "missing-node": [
        "Cannot execute because node MiniMaxH3Cache does not exist.",
        "When loading the graph, the following node types were not found: UnetLoaderGGUF",
        "缺失节点: UnetLoaderGGUF",
        "   0.0 seconds (IMPORT FAILED): D:\\ComfyUI\\custom_nodes\\ComfyUI-GGUF",
    ],
    "sage-version": [
        "ValueError: Unsupported CUDA architecture: sm_120",
        "Error running sage attention: SM89 kernel is not available., using pytorch attention instead.",
    ],
    "sage-assert": ["Expected value.size(3) >= div_ceil(kv_len, CTA_K) * CTA_K to be true, but got false."],
    "mem-efficient": ["FATAL: kernel `fmha_cutlassF_f16_aligned_64x128_rf_sm80` is for sm80-sm100"],
    "sage-noise": ["output is pure noise when it exceeds 160000 tokens with sageattn fp8 on sm_120"],
    "torch-arch": ["AssertionError: Torch not compiled with CUDA enabled"],
    "gpu-lost": [
        "NVRM: Xid (PCI:0000:2b:00): 79, GPU has fallen off the bus.",
        "Display driver nvlddmkm stopped responding and has successfully recovered.",
        "nvlddmkm, event 4101: TdrDelay, timeout detection and recovery",
        "No devices were found",
    ],
    "xid": ["kernel: NVRM: Xid (PCI:0000:01:00): 13, pid=4242, name=python3, Graphics SM Warp Exception"],
    "context-dead": [TRACE + "RuntimeError: CUDA error: unspecified launch failure"],
    "livelock": ["|  0%   45C    P0      20W /  180W |   15103MiB /  16311MiB |     96%      Default |"],
    "killed": [
        "./run.sh: line 3: 31337 Killed                  python main.py --listen",
        "systemd[1]: comfyui.service: A process of this unit has been killed by the OOM killer.",
        "Memory cgroup out of memory: Killed process 991 (python3) total-vm:78gB",
        "container exited with code 137",
        "subprocess.CalledProcessError: Command died with <Signals.SIGKILL: 9>.",
    ],
    "request-too-large": ["413 Request Entity Too Large nginx/1.24", "Maximum request body size 1 exceeded"],
    "origin": ["POST /prompt HTTP/1.1 403 Forbidden"],
    "queued-500": ["aiohttp.server Error handling request\nPOST /prompt 500 Internal Server Error"],
    "interrupted-memory": ["Got an OOM, unloading all loaded models.\nexecution_interrupted node_id 9"],
    "interrupted": ["Processing interrupted\nPrompt executed in 12.44 seconds"],
    "nan-sound": ["audio waveform has NaN", "[Errno 22] Invalid argument: 'avcodec_send_frame()'"],
    "no-sound": ["Output file #0 does not contain any audio stream"],
    "reference-shape": [
        'File "custom_nodes/ComfyUI-MiniMax-H3-Turbo/nodes.py"\nRuntimeError: shape mismatch: value tensor'
        " of shape [414, 5376] cannot be broadcast to indexing result of shape [410, 5376]",
    ],
    "block-argument": ["TypeError: X.<locals>.forward() got an unexpected keyword argument 'attention'"],
    "not-a-file": ["safetensors_rust.SafetensorError: Error while deserializing header: HeaderTooLarge"],
    "disk-full": ["OSError: [Errno 28] No space left on device"],
}  # fmt: skip

INNOCENT = [
    "Model MiniMaxH3 prepared for dynamic VRAM loading. 19532MB Staged. 208 patches attached.",
    "CUDA graph capture finished in 1.2 s",
    "|  0%   45C    P8             20W /  180W |     513MiB /  16311MiB |      0%      Default |",
    "| 62%   71C    P2            172W /  180W |   15103MiB /  16311MiB |    100%      Default |",
    "fan 95 %, 20 W",
    "WER: no TDR events were found",
    "step took 403 ms; 413 tokens; 500 frames",
    "the hero is killed in shot 3; Killed by love",
    "adjusting oom_score_adj to 0",
    "no audio tracks selected in the editor, using vocals.wav",
    "encoding the master with audio stream 0:1 aac",
    "press Ctrl-C to interrupt",
    "USB device removed; CUDA device removed from the list",
    "signal 9 has no handler",
    "exit code 0; frame 137",
    "sage attention disabled; tests passed, 12 asserts",
    "adding noise for 150k tokens",
    "no missing nodes were found. node types: 812",
    "graph breaks: 3",
    "loaded partially; 5200.00 MB usable, 5100.00 MB loaded, 5300 MB offloaded, lowvram patches: 0",
]
