"""Models and expected transcripts of the example examples/text, from text_models.py.

    text_case.py FOLDER     writes FOLDER/*.gguf
"""
import os
import sys

import text_models

CHAR = list('é'.encode())


def main(folder):
    """The reply after "assistant\\n" is "oké"; that of a model whose text does not end fills the context."""
    links = {ord('\n'): ord('o'), ord('o'): ord('k'), ord('k'): CHAR[0], CHAR[0]: CHAR[1], CHAR[1]: text_models.IM_END}
    models = {'chat': text_models.chain(text_models.bytes_keys(), links),
              'endless': text_models.chain(text_models.bytes_keys(), {ord('\n'): ord('o'), ord('o'): ord('o')}),
              'template': text_models.chain(text_models.bytes_keys(template='{{ x }}'), links),
              'bare': text_models.model('llama', {}), 'encoder': text_models.model('bert', text_models.words_keys())}
    for name, model in models.items():
        with open(os.path.join(folder, name + '.gguf'), 'wb') as f:
            f.write(model.bytes())


if __name__ == '__main__':
    main(sys.argv[1])
