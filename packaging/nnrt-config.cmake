# find_package(nnrt) gives the target nnrt::nnrt: the folder of the headers, and libm. The implementation is compiled by
# the program, in the one file that defines NNRT_IMPLEMENTATION. Paths are relative to this file: share/cmake/nnrt.
get_filename_component(nnrt_INCLUDE_DIR "${CMAKE_CURRENT_LIST_DIR}/../../../include/nnrt" ABSOLUTE)
if(NOT EXISTS "${nnrt_INCLUDE_DIR}/nnrt.h")
    set(nnrt_FOUND FALSE)
    set(nnrt_NOT_FOUND_MESSAGE "there is no ${nnrt_INCLUDE_DIR}/nnrt.h")
elseif(NOT TARGET nnrt::nnrt)
    add_library(nnrt::nnrt INTERFACE IMPORTED)
    set_target_properties(nnrt::nnrt PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${nnrt_INCLUDE_DIR}")
    if(NOT WIN32)
        set_target_properties(nnrt::nnrt PROPERTIES INTERFACE_LINK_LIBRARIES m)
    endif()
endif()
