// hello.c in C++: runs a network once, on zeros.   c++ -std=c++17 -I. examples/hello.cpp -o hello && ./hello MODEL.onnx
#define NNRT_IMPLEMENTATION
#include "formats/nnrt_onnx.h"

#include <algorithm>
#include <iostream>
#include <memory>
#include <vector>

int main(int argc, char **argv)
{
    NNRT_Model *read = nullptr;
    nnrt_session *made = nullptr;
    nnrt_error error{}; // message: the node, the reason, and the remedy
    if (argc != 2)
        return std::cerr << "usage: hello MODEL\n", 1;

    nnrt_onnx_load(&read, argv[1], nullptr, &error);
    std::unique_ptr<NNRT_Model, decltype(&nnrt_model_destroy)> model(read, nnrt_model_destroy);
    if (model != nullptr)
        nnrt_session_create(&made, model.get(), nullptr, &error);
    std::unique_ptr<nnrt_session, decltype(&nnrt_session_destroy)> session(made, nnrt_session_destroy);
    if (session == nullptr)
        return std::cerr << error.message << '\n', 1;

    std::vector<float> image(nnrt_session_input(made, 0).bytes / sizeof(float)); // the caller owns inputs and outputs
    std::vector<float> scores(nnrt_session_output(made, 0).bytes / sizeof(float));
    const nnrt_io in = nnrt_io_make(image.data(), image.size() * sizeof(float));
    const nnrt_io out = nnrt_io_make(scores.data(), scores.size() * sizeof(float));
    if (nnrt_run(made, &in, 1, &out, 1) != NNRT_SUCCESS)
        return std::cerr << nnrt_session_error(made) << '\n', 1;
    std::cout << "largest output: " << std::max_element(scores.begin(), scores.end()) - scores.begin()
              << "; arena: " << nnrt_session_get_memory(made).arena << " bytes\n";
    return 0;
}
