/* The API of OpenHarmony: compat/neural_network_runtime. */
#include "../compat/neural_network_runtime/neural_network_runtime_type.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "ohnn_types.h" /* does not compile where an enumerator or a member is another one */

/* The structs are laid out as OpenHarmony's are, for programs that fill them in order. */
static void types_are_openharmonys(void **state)
{
    static const int32_t dims[2] = {1, -1};
    const OH_NN_Tensor tensor = {OH_NN_FLOAT32, 2, dims, NULL, OH_NN_TENSOR};
    const OH_NN_UInt32Array none = {NULL, 0};
    const OH_NN_Memory memory = {NULL, 7};
    (void)state;
    assert_int_equal(tensor.dataType, 11);
    assert_int_equal(tensor.dimensionCount, 2);
    assert_ptr_equal(tensor.dimensions, dims);
    assert_null(tensor.quantParam);
    assert_int_equal(tensor.type, 0);
    assert_null(none.data);
    assert_int_equal(none.size, 0);
    assert_int_equal(memory.length, 7);
    assert_int_equal(sizeof(OH_NN_ReturnCode), sizeof(int));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(types_are_openharmonys)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
