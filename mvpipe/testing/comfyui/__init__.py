"""A ComfyUI server without ComfyUI: its protocol as measured, small real clips instead of renders.

Run it with `python -m mvpipe.testing.comfyui`, or from Python with `mvpipe.testing.standin.standin`.
Two generations are told apart by version (0.3.64, 0.33.0); a third, "later", is known from source only.
One event loop thread and one worker thread, as in the real server, so that what blocks one there blocks
it here. Everything lives in memory but the files of `input`, `output` and `temp`.
"""
