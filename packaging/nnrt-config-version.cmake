# nnrt.h is the only place of the version. A version is backward compatible within a major version, and before 1.0 within
# a minor version.
file(STRINGS "${CMAKE_CURRENT_LIST_DIR}/../../../include/nnrt/nnrt.h" PACKAGE_VERSION
     REGEX "^#define NNRT_VERSION_(MAJOR|MINOR|PATCH) [0-9]+$")
string(REGEX REPLACE "#define NNRT_VERSION_[A-Z]+ " "" PACKAGE_VERSION "${PACKAGE_VERSION}")
string(REPLACE ";" "." PACKAGE_VERSION "${PACKAGE_VERSION}")

if(PACKAGE_VERSION VERSION_EQUAL PACKAGE_FIND_VERSION)
    set(PACKAGE_VERSION_EXACT TRUE)
    set(PACKAGE_VERSION_COMPATIBLE TRUE)
elseif(PACKAGE_VERSION VERSION_GREATER PACKAGE_FIND_VERSION)
    string(REGEX MATCH "^(0[.][0-9]+|[1-9][0-9]*)" nnrt_series "${PACKAGE_VERSION}")
    if("${PACKAGE_FIND_VERSION_MAJOR}.${PACKAGE_FIND_VERSION_MINOR}." MATCHES "^${nnrt_series}[.]")
        set(PACKAGE_VERSION_COMPATIBLE TRUE)
    endif()
    unset(nnrt_series)
endif()
