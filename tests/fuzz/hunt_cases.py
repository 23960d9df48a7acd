"""The commands of hunt.py: for each command of the command line the words and options with which it reads a damaged file. A
command or option that the program's help lists and this file lacks is an error.
"""
import os
import random
import re
import subprocess

from hunt_damage import damaged, message_damaged, sealed
from hunt_seeds import MODELS, ROOT, SAMPLES, TEXTS, VALUES, seeds

# Command: (formats of the damaged file, words). In the words, @ is the damaged file or folder, HOST a valid model with an input
# for it, ROWS valid samples for HOST, CLASSES their labels, CLASS one label, SET a folder of test data, OUT.x a file and DIR/ a
# folder to write.
TEMPLATES = {
    'info': [(MODELS, '@'), (['plan'], '@')],
    'run': [(['plan'], '@ --input random'), (MODELS, '@ --input random'), (MODELS, '@ --input random -o DIR/'),
        (VALUES, 'HOST --input @'), (VALUES, 'HOST --input @ --dump DIR/'),
        (['cache'], 'HOST --input ROWS --device cpu --cache @/'),
        (['cache'], 'HOST --input ROWS --device fake:cache=yes --cache @/'), (VALUES, 'HOST --fix x=@')],
    'bench': [(MODELS, '@ --reps 2'), (VALUES, 'HOST --reps 2 --input @'),
        (['cache'], 'HOST --reps 1 --input ROWS --device cpu --cache @/')],
    'check': [(['npy', 'pb'], 'HOST --input @ --expected @'), (['set'], 'HOST --data @'), (MODELS, '@ --data SET')],
    'compare': [(MODELS, '@ --device cpu'), (VALUES, 'HOST --device cpu --input @')],
    'accuracy': [(MODELS, '@ HOST --data ROWS --labels CLASSES'), (SAMPLES, 'HOST --data @ --samples 1 --labels CLASS'),
        (['labels', 'npy'], 'HOST --data ROWS --labels @')],
    'batch': [(MODELS, '@ --input ROWS --output DIR/'), (SAMPLES, 'HOST --input @ --output DIR/'),
        (SAMPLES, 'HOST --input @ --output DIR/ --skip-bad'), (['results'], 'HOST --input ROWS --chunk 1 --output @/'),
        (['results'], 'HOST --input ROWS --merge --output @/')],
    'report': [(MODELS, '@ -o OUT.html'), (VALUES, 'HOST --input @ -o OUT.html')],
    'convert': [(MODELS, '@ OUT.nnrt'), (['labels'], 'HOST OUT.nnrt --labels @')],
    'quantize': [(MODELS, '@ --data ROWS -o OUT.nnrt'), (MODELS, '@ --weights-only 8 -o OUT.nnrt'),
        (MODELS, '@ --dynamic -o OUT.nnrt'), (SAMPLES, 'HOST --data @ -o OUT.nnrt'),
        (SAMPLES, 'HOST --data ROWS --held-out @ -o OUT.onnx'), (['keep'], 'HOST --data ROWS --keep @ -o OUT.nnrt'),
        (['labels', 'npy'], 'HOST --data ROWS --classes @ -o OUT.nnrt')],
    'compile': [(MODELS, '@ --device cpu -o OUT.nnrt'), (MODELS, '@ --device mcu:cortex-m4 -o OUT.nnrt'),
        (MODELS, '@ --device fake:cache=yes -o OUT.nnrt')],
    'emit-c': [(MODELS, '@ -o OUT.h'), (MODELS, '@ --device mcu:cortex-m55 -o OUT.h'), (VALUES, 'HOST --golden @ -o OUT.h')],
    'emit-wasm': [(MODELS, '@ -o OUT.wasm')],
    'emit-frontend': [(['design'], '@ -o OUT.h')],
    'generate': [(MODELS, '@ --ids 1,2 --tokens 3'), (['limits'], 'HOST --ids @'), (['gguf'], '@ --prompt ab --tokens 3')],
    'embed': [(['gguf'], '@ --text the.cat -o OUT.npy'), (['tokenizer'], 'HOST --text cat --tokenizer @ -o OUT.npy')],
    'tokenize': [(['gguf', 'tokenizer'], '@ --text the.cats'), (['gguf', 'tokenizer'], '@ --decode 1,5,6,7,200'),
        (['gguf', 'tokenizer'], '@ --text \u00e9ab --pieces'), (MODELS, '@ --text a')],
    'dot': [(MODELS, '@'), (MODELS, '@ -o OUT.dot'), (['keep'], 'HOST --keep @')],
    'ops': [(['header'], '--copy SOFTMAX --header @'), (['name'], '--copy @'), (['name'], '--copy @ --example'),
        (['name'], '--copy @ --type float32'), (['name'], '--copy @ --activation RELU'), (['name'], '--json'),
        (['name'], '--onnx'), (['name'], '--show @'), (['name'], '--copy @ --all')],
    'devices': [(['driver'], '--load @'), (['device'], '--device @'), (['device'], '--json --device cpu')],
    'serve': [(['driver'], '--socket SET --load @'), (['device'], '--socket SET --device @'),
        (['limits'], '--socket SET --limits @')],
}

# Lists of values begin with valid ones, which are drawn more often.
NUMBERS = ['1', '2', '3', '0', '-1', '1.5', '4294967296', '99999999999999999999', 'x', '']
REALS = ['1', '0.5,1,2', '1/255', '0', '-1e30', '1e-320', 'nan', '1,2,3,4,5', '', '1/0']
SIZES = ['2,3', 'x=2,3', '1,3,4,5', '0,3', '-1', '1', 'a=1,2,3', '2147483647,2147483647', '1,,2', '']
FILES = ['CLASSES', 'HOST', 'SET', 'ROWS', '/dev/null', 'missing']
VALUE = ['random', 'random:7', '0.5', '1,2,3', 'x=random', 'a=1', 'x=', *FILES]
# Option: values, of which one is drawn. None: an option whose values are in TEMPLATES only.
OPTIONS = {
    '--input': VALUE, '--fix': ['x=2,3', 'a=1', 'x=ROWS', 'x=random', 'y=0', 'x='], '--golden': VALUE,
    '--expected': ['y=1', *VALUE], '--dim': ['n=2', 'N=3', 'batch=1', 'n=0', 'n=', 'n=99999999999'], '--shape': SIZES,
    '--max': SIZES, '--outputs': ['y', 'x', 'y,y', 'z,', 'a,y', ''], '--top': ['1', '5', '1000', '1001'], '--samples': NUMBERS,
    '--chunk': NUMBERS, '--batch': NUMBERS, '--cache-type': ['f16', 'f32', 'q8_0', 'f8'], '--keep-tokens': NUMBERS,
    '--cache-page': NUMBERS, '--save-cache': ['OUT.cache'], '--load-cache': FILES, '--jobs': ['1', '2', '0'], '--threads': ['1', '2', '3', '0', '1025'],
    '--reps': ['1', '2', '0'], '--smallest': NUMBERS, '--budget': ['1', '2', '0'], '--arena': NUMBERS,
    '--block': ['16', '32', '65536', '17'], '--mean': REALS, '--scale': REALS, '--std': REALS, '--rtol': REALS, '--atol': REALS,
    '--max-loss': ['0.01', '1', '1e-9', '0'], '--layout': ['nchw', 'nhwc', 'x'],
    '--shard': ['0/2', '1/2', '0/1', '2/2', 'env', 'env/3', '0/0', '/'], '--labels': ['y=CLASSES', *FILES],
    '--meta': ['license=MIT', 'labels=a\nb', 'input.x.mean=1,2', 'k=', '=v'], '--set': ['k=v', 'input.x.color=bgr'],
    '--signature': ['main', '', 'serving_default'], '--properties': ['a=1;b=2', 'a'],
    '--load': ['CLASSES', '/dev/null', 'missing'],
    '--device': ['reference', 'cpu', 'auto', 'auto:cpu,reference', 'fake:cache=yes', 'fake:float16=yes',
        'fake:garbage=GetIO', 'fake:fail=Run:1', 'cpu-avx2', 'auto:fake:ops=ADD_FUSION,cpu', 'mcu:cortex-m0plus', 'mcu:x',
        'remote:missing', 'fake:x', ''],
    '--cache': ['DIR/', 'CLASSES'], '--keep': ['CLASSES', 'SET'], '--performance': ['none', 'low', 'high', 'x'],
    '--priority': ['low', 'high', ''],
    '--extension': ['nnrt.cpu.winograd=0', 'nnrt.cpu.memory=smallest', 'nnrt.cpu.weights=int8', 'x=y', '='],
    '--log': ['warning', 'info', 'debug', 'x'], '--profile': ['=OUT.trace', ''], '--dump': ['DIR/', 'CLASSES'],
    '--output-dir': ['DIR/', 'CLASSES'], '--name': ['net', '', 'a b', '9'], '--report': ['OUT.page', 'SET'],
    '--region': ['fast=64', 'r=1048576', 'x=0', '='], '--section': ['s=*', 's=*>16', '='],
    '--state': ['x=y', 'a=y', 'x=x', '='], '--without': ['bias', 'equalize,channels', 'x'], '--weights-only': ['4', '8', '5'],
    '--processor': ['vnni', 'avx2', 'x'],
    '--classes': FILES, '--held-out': ['ROWS', *FILES], '--copy': ['SOFTMAX', 'Conv', 'x'],
    '--header': [ROOT + '/nnrt_ops.h', *FILES], '--type': ['float32', 'int8', 'x'],
    '--activation': ['RELU', 'NO_ACTIVATION', 'RELU,TANH', 'x'], '--socket': ['SET', 'CLASSES'],
    '--limits': ['clients=1', 'bytes=0', 'x=1'], '--users': ['0', '1,2', ',', '4294967295'], '--mode': ['0600', '999', ''],
    '--prompt': ['a', 'ab \u00e9<|im_end|>', ''], '--prompt-file': FILES, '--system': ['x'], '--template': ['chatml', 'x'], '--context': NUMBERS,
    '--temperature': REALS, '--top-k': NUMBERS, '--top-p': REALS, '--min-p': REALS, '--repeat-penalty': REALS, '--presence-penalty': REALS,
    '--seed': NUMBERS, '--text': ['a', '\u00e9', ''], '--decode': ['1', '1,200,3', '1,,2', ''], '--tokenizer': FILES,
    '--pooling': ['mean', 'first', 'last', 'x'], '--ids': ['1', '1,2,3', '0,99999999999', '1,,2', 'x', ''], '--tokens': NUMBERS, '--show': ['SOFTMAX', 'x'],
    '-o': None, '--data': None, '--output': None,
}


class Case:
    """One command: its words, in which @/ is the folder of its files; the files: bytes, None (a folder) or a text (a link)."""

    def __init__(self, command, form, words, files):
        self.command, self.form, self.words, self.files = command, form, words, files
        self.outputs = [re.sub('.*=@/', '@/', word)[2:] for word in words if re.search('(^|=)@/OUT[.]', word)]
        self.folders = [word[2:-1] for word in words if re.fullmatch('@/[^=]*/', word)]

    def write(self, folder):
        os.makedirs(folder)
        for name, data in self.files.items():
            path = os.path.join(folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            if data is None:
                os.makedirs(path, exist_ok=True)
            elif isinstance(data, str):
                os.symlink(data, path)
            else:
                with open(path, 'wb') as f:
                    f.write(data.replace(b'@/', os.fsencode(folder) + b'/') if name.endswith('.txt') else data)
        return [word.replace('@/', folder + '/') for word in self.words]


class Cases:
    """Case number i of a seed is the same whatever ran before."""

    def __init__(self, program, nnrt, seed, without=()):
        self.seed, self.without = seed, without
        self.pool, self.fits, self.models, self.rows = seeds(program)
        self.commands = {name: options_of(nnrt, name) for name in commands_of(nnrt)}

    def change(self, draw, form, files):
        """Damages one file."""
        name = draw.choice(sorted(files))
        what = draw.random()
        if what < 0.02:
            files[name] = None
        elif what < 0.03:
            files[name] = 'missing'
        elif what < 0.05:
            files[name] = b''
        elif what < 0.08:
            files[name] = draw.choice(list(draw.choice(self.pool[draw.choice(MODELS + VALUES)])[1].values()))
        elif isinstance(files[name], bytes):
            others = [data for data in draw.choice(self.pool[form])[1].values() if isinstance(data, bytes)]
            if name.endswith(('.onnx', '.pb')) and draw.random() < 0.7:
                files[name] = message_damaged(draw, files[name], others[0])
            else:  # offsets of other models stay right if no byte moves
                kinds = (0, 1, 5, 5, 5) if form in [*MODELS, 'plan'] and draw.random() < 0.7 else range(11)
                files[name] = damaged(draw, files[name], others[-1], kinds)
            files[name] = sealed(files[name]) if draw.random() < 0.85 else files[name]

    def case(self, i):
        draw = random.Random(self.seed << 32 | i)
        command = draw.choice(sorted(self.commands))
        if command == 'emit-wasm' and draw.random() < 0.7:  # it starts a compiler, which takes a second
            command = draw.choice(sorted(self.commands))
        forms, words = draw.choice([row for row in TEMPLATES[command] if not set(row[0]) <= set(self.without)])
        form = draw.choice(forms)
        fits = self.fits.get(form) if ('ROWS' in words or 'SET' in words) and draw.random() < 0.6 else None
        subject, files = draw.choice(fits or self.pool[form])
        files = dict(files)
        for _ in range(draw.choice([0, 1, 1, 1, 1, 1, 1, 2, 2, 4])):
            self.change(draw, form, files)
        if form in TEXTS:
            text = files.pop('')
            subject = os.fsdecode((text if isinstance(text, bytes) else b'').replace(b'\0', b'?')[:100000])
            subject = '@ ' + subject if subject.startswith('-') else subject
        words = [*words.split(), *self.options(draw, command)]
        host = {'png': 'image', 'jpg': 'image', 'wav': 'sound'}.get(form, 'rows' if draw.random() < 0.9 else 'image')
        given = ' '.join(words)
        if 'HOST' in given:
            files['host.onnx'] = self.models[host]
        if 'ROWS' in given:
            files['rows.npy'] = self.rows[host]
        if 'CLASSES' in given:
            files['classes.txt'] = b'0\n1\n2\n3\n0\n1\n'[:2 * len(self.rows[host]) if host == 'rows' else 4]
        if re.search(r'\bCLASS\b', given):
            files['class.txt'] = b'1\n'
        if 'SET' in given:
            files.update({'set/input_0.npy': self.rows[host], 'set/output_0.npy': self.rows[host]})
        places = {'HOST': '@/host.onnx', 'ROWS': '@/rows.npy', 'CLASSES': '@/classes.txt', 'CLASS': '@/class.txt',
                  'SET': '@/set', 'OUT': '@/OUT', 'DIR': '@/DIR', '@': subject if form in TEXTS else '@/' + subject}
        words = [re.sub(r'\b(HOST|ROWS|CLASSES|CLASS|SET|OUT|DIR)\b|@', lambda found: places[found[0]], word) for word in words]
        return Case(command, form, [command, *words], files)

    def options(self, draw, command):
        """Some options."""
        out = []
        for _ in range(draw.choice([0, 0, 0, 1, 1, 2])):
            option = draw.choice(sorted(self.commands[command]))
            value = self.commands[command][option]
            if value and OPTIONS[option] is None or option in ('--help', '--chat'):  # a chat would read the commands of commands.c
                continue
            chosen = OPTIONS[option][min(draw.randrange(len(OPTIONS[option])) for _ in range(3))] if value else None
            if command == 'serve' and option == '--socket' or 'OUT' in (chosen or '') and 'OUT' in ' '.join(out):
                continue
            out += [option] if not value else [option + chosen] if value.startswith('[=') else [option, chosen]
        return out


def commands_of(nnrt):
    """The commands that the help lists. LookupError: this file has no words for one of them."""
    text = subprocess.run([nnrt, '--help'], capture_output=True, text=True, check=True).stdout
    names = re.findall(r'^  (\S+)', text.split('commands:')[1].split('\n\n')[0], re.M)
    for name in names:
        if name not in TEMPLATES:
            raise LookupError('tests/fuzz/hunt_cases.py: TEMPLATES has no words for the command %s' % name)
    return names


def options_of(nnrt, command):
    """Option -> the placeholder of its value, or ''."""
    text = subprocess.run([nnrt, command, '--help'], capture_output=True, text=True, check=True).stdout
    out = {}
    for line in text.split('\noptions:\n')[1].split('\n\nexample:')[0].split('\n'):
        option, optional, value = re.match(r'  (-[^\s\[]+)(\[=\S+)? ?(\S*)', line).groups()
        out[option] = optional or value or ''
        if out[option] and option not in OPTIONS:
            raise LookupError('tests/fuzz/hunt_cases.py: OPTIONS has no values for %s of the command %s' % (option, command))
    return out
