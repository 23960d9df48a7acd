/** Runs a network once, on zeros, and once with an input that is too short: java Digits MODEL.onnx */
public final class Digits {
    public static void main(String[] words) throws Exception {
        float[] scores = new float[10];
        try (Nnrt network = new Nnrt(words[0])) {
            network.run(new float[28 * 28], scores);
            int best = 0;
            for (int i = 1; i < scores.length; i++) best = scores[i] > scores[best] ? i : best;
            System.out.println("largest output: " + best);
            try {
                network.run(new float[3], scores);
            } catch (IllegalArgumentException fault) {
                System.err.println(fault.getMessage());
            }
        }
    }
}
