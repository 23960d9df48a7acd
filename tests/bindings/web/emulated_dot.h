/* emulated_dot.h - the relaxed dot product of WebAssembly as engines may choose it, for engines without relaxed SIMD: the
   kernels are compiled with `-include` of this file. emulate(choice) before the first session selects. */
#include <stdint.h>
#include <wasm_simd128.h>

static int32_t
    emulated_choice; /* 0: x is uint8 (VNNI); 1: int8 (SDOT); 2: uint8, sums of two saturate (SSSE3); 3: int8, they wrap */

__attribute__((export_name("emulate"))) void emulate(int32_t choice);
void emulate(int32_t choice)
{
    emulated_choice = choice;
}

/* The sums of neighbors of w * x in 16 bits, with x as uint8 or int8. */
static inline v128_t emulated_pairs(v128_t products_low, v128_t products_high, int32_t saturate)
{
    const v128_t even = wasm_i16x8_shuffle(products_low, products_high, 0, 2, 4, 6, 8, 10, 12, 14);
    const v128_t odd = wasm_i16x8_shuffle(products_low, products_high, 1, 3, 5, 7, 9, 11, 13, 15);
    return saturate ? wasm_i16x8_add_sat(even, odd) : wasm_i16x8_add(even, odd);
}

static inline v128_t emulated_dot(v128_t w, v128_t x, v128_t c)
{
    const int32_t isInt8 = emulated_choice & 1, is16 = emulated_choice >= 2;
    const v128_t w0 = wasm_i16x8_extend_low_i8x16(w), w1 = wasm_i16x8_extend_high_i8x16(w);
    const v128_t x0 = isInt8 ? wasm_i16x8_extend_low_i8x16(x) : wasm_u16x8_extend_low_u8x16(x);
    const v128_t x1 = isInt8 ? wasm_i16x8_extend_high_i8x16(x) : wasm_u16x8_extend_high_u8x16(x);
    const v128_t a = wasm_i32x4_dot_i16x8(w0, x0), b = wasm_i32x4_dot_i16x8(w1, x1);
    v128_t y = wasm_i32x4_add(wasm_i32x4_shuffle(a, b, 0, 2, 4, 6), wasm_i32x4_shuffle(a, b, 1, 3, 5, 7));
    if (is16)
        y = wasm_i32x4_extadd_pairwise_i16x8(
            emulated_pairs(wasm_i16x8_mul(w0, x0), wasm_i16x8_mul(w1, x1), emulated_choice == 2));
    return wasm_i32x4_add(y, c);
}
#define NNRT_CPU_RELAXED_DOT(w, x, c) emulated_dot(w, x, c)
