/* files.mjs - files that the tests of nnrt.js read: ONNX test data (TensorProto in protobuf) and arrays of numpy (.npy). */
import {Tensor} from '../../../build/web/nnrt/nnrt.js';

const ONNX_TYPES = {1: 'float32', 2: 'uint8', 3: 'int8', 4: 'uint16', 5: 'int16', 6: 'int32', 7: 'int64', 9: 'bool',
    10: 'float16', 11: 'float64', 12: 'uint32', 13: 'uint64'};

/** The fields of a protobuf message: [number, value]; a value is a BigInt or the bytes. */
function* fields(bytes) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let at = 0;
    const varint = () => {
        let value = 0n;
        for (let shift = 0n; ; shift += 7n) {
            const byte = bytes[at++];
            value |= BigInt(byte & 127) << shift;
            if (byte < 128)
                return value;
        }
    };
    while (at < bytes.length) {
        const key = Number(varint()), wire = key & 7;
        if (wire === 0)
            yield [key >> 3, varint()];
        else {
            const length = wire === 2 ? Number(varint()) : wire === 1 ? 8 : 4;
            at += length;
            yield [key >> 3, bytes.subarray(at - length, at), view];
        }
    }
}

const repeated = (value) => {
    if (typeof value === 'bigint')
        return [value];
    const list = [];
    for (let at = 0; at < value.length;) {
        let v = 0n, shift = 0n, byte;
        do {
            byte = value[at++];
            v |= BigInt(byte & 127) << shift;
            shift += 7n;
        } while (byte > 127);
        list.push(v);
    }
    return list;
};

/** A TensorProto as {name, tensor}; tensor is undefined if it is of a type that nnrt.js lacks. */
export function readTensor(bytes) {
    const dims = [], numbers = [], floats = [];
    let name = '', type = 0, raw;
    for (const [field, value] of fields(bytes)) {
        if (field === 1) dims.push(...repeated(value).map(Number));
        if (field === 2) type = Number(value);
        if (field === 4 || field === 10) floats.push(value.slice());
        if (field === 5 || field === 7 || field === 11) numbers.push(...repeated(value));
        if (field === 8) name = new TextDecoder().decode(value);
        if (field === 9) raw = value.slice();
    }
    const kind = ONNX_TYPES[type];
    if (kind === undefined)
        return {name};
    const empty = new Tensor(kind, [], [0]), Kind = empty.data.constructor;
    const bits = kind === 'float16' ? Uint16Array : Kind;
    const store = raw ?? (floats.length > 0 ? Buffer.concat(floats) : undefined);
    const data = store ? new bits(store.buffer.slice(store.byteOffset, store.byteOffset + store.length))
        : bits.from(numbers, kind.endsWith('int64') ? (v) => kind[0] === 'u' ? BigInt.asUintN(64, v) : BigInt.asIntN(64, v)
            : (v) => Number(BigInt.asIntN(64, v)));
    return {name, tensor: new Tensor(kind, data, dims)};
}

const NPY_TYPES = {float32: '<f4', float64: '<f8', int8: '|i1', uint8: '|u1', int32: '<i4', int64: '<i8', bool: '|b1'};

export function writeNpy(tensor) {
    const shape = tensor.dims.map((d) => `${d},`).join('');
    const header = `{'descr': '${NPY_TYPES[tensor.type]}', 'fortran_order': False, 'shape': (${shape}), }`;
    const padded = header.padEnd(Math.ceil((header.length + 11) / 64) * 64 - 11) + '\n';
    const head = Buffer.from('\x93NUMPY\x01\x00xx' + padded, 'latin1');
    head.writeUInt16LE(padded.length, 8);
    return Buffer.concat([head, Buffer.from(tensor.data.buffer, tensor.data.byteOffset, tensor.data.byteLength)]);
}

/** The bytes of the elements of a .npy file. */
export function readNpy(bytes) {
    return bytes.subarray(10 + bytes.readUInt16LE(8));
}
