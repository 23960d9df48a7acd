#!/bin/sh
# fetch.sh : fetches the speech detectors of the npm package @ricky0123/vad-web into build/vad-data if they are missing.
cd "$(dirname "$0")/../.." && exec sh tools/fetch.sh build/vad-data @ricky0123/vad-web@0.0.31 <<'END'
2623a2953f6ff3d2c1e61740c6cdb7168133479b267dfef114a4a3cc5bdd788f  dist/silero_vad_v5.onnx
1a153a22f4509e292a94e67d6f9b85e8deb25b4988682b7e174c65279d8788e3  dist/silero_vad_v6.onnx
a35ebf52fd3ce5f1469b2a36158dba761bc47b973ea3382b3186ca15b1f5af28  dist/silero_vad_legacy.onnx
END
