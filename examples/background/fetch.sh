#!/bin/sh
# fetch.sh : fetches MediaPipe's selfie segmentation into build/background-data if it is missing.
cd "$(dirname "$0")/../.." &&
    exec sh tools/fetch.sh build/background-data @mediapipe/selfie_segmentation@0.1.1675465747 <<'END'
8d13b7fae74af625c641226813616a2117bd6bca19eb3b75574621fc08557f27  selfie_segmentation.tflite
END
