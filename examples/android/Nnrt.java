/** A network of an ONNX file with one float32 input and one float32 output. An object belongs to one thread at a time. */
public final class Nnrt implements AutoCloseable {
    static { System.loadLibrary("nnrt_jni"); }
    private static native long open(String path) throws java.io.IOException;
    private static native void run(long handle, float[] input, float[] output);
    private static native void close(long handle);
    private long handle;

    public Nnrt(String path) throws java.io.IOException { handle = open(path); }

    public void run(float[] input, float[] output) {
        if (handle == 0) throw new IllegalStateException("the network is closed");
        run(handle, input, output);
    }

    @Override public void close() {
        if (handle != 0) close(handle);
        handle = 0;
    }
}
