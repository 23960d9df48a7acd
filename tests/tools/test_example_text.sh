#!/bin/sh
# test_example_text.sh FOLDER: a chat in a pipe, with models whose next token is known (text_case.py).
set -u
. tests/tools/examples.sh

"$python" -B tests/tools/text_case.py "$folder"
verdict 'text: models' $?
# chat NAME STATUS MODEL LINES: the lines are standard input
chat() {
    printf '%b' "$4" >"$folder/lines"
    # shellcheck disable=SC2016  # a command for sh -c
    expect "text: $1" "$2" sh -c '"$1" "$2" <"$3"' sh "$bin/text" "$folder/$3.gguf" "$folder/lines"
}
# says NAME TEXT: exactly this is standard output
says() {
    printf '%b' "$2" | cmp -s - "$folder/out"
    verdict "text: $1: another text" $?
}
chat 'two messages' 0 chat 'hello\nyou\r\n'
says 'two messages' 'oké\noké\n'
chat 'no message' 0 chat ''
says 'no message' ''
chat 'a message in parts' 0 chat "$(printf 'a%.0s' $(seq 300))"
says 'a message in parts' 'oké\n'
chat 'a full context' 1 endless 'hi\nyou\n'
shows 'text: a full context' err '^no reply: .*more than 2048 tokens$'
[ "$(head -n 1 "$folder/out" | tr -d 'o' | wc -c)" -eq 1 ] && [ "$(wc -c <"$folder/out")" -gt 1900 ]
verdict 'text: the reply that fills the context' $?
chat 'an unknown template' 1 template 'hi\n'
shows 'text: an unknown template' err '^no reply: an unknown chat template'
chat 'no tokenizer' 1 bare 'hi\n'
shows 'text: no tokenizer' err 'the GGUF file has no tokenizer'
chat 'an encoder' 1 encoder 'hi\n'
shows 'text: an encoder' err 'the model is no decoder'
chat 'no file' 1 absent 'hi\n'
shows 'text: no file' err 'cannot be opened'
usage text ''
usage text 'a b'

total
