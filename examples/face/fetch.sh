#!/bin/sh
# fetch.sh : fetches the face detector of the npm package @mediapipe/face_detection into build/face-data if it is missing.
cd "$(dirname "$0")/../.." && exec sh tools/fetch.sh build/face-data @mediapipe/face_detection@0.4.1657300184 <<'END'
3bc182eb9f33925d9e58b5c8d59308a760f4adea8f282370e428c51212c26633  face_detection_short_range.tflite
END
