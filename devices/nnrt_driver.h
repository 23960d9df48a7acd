/*
nnrt_driver.h - devices from shared libraries: a vendor builds a driver separately, and programs load it at run time.

    #define NNRT_IMPLEMENTATION
    #include "devices/nnrt_driver.h"    includes nnrt_hal.h from the parent folder

    nnrt_driver_load("/opt/npu/libfast_npu.so", &error);    registers its device
    nnrt run model.onnx --load /opt/npu/libfast_npu.so --device fast_npu

A DRIVER
    A driver is a shared library that exports one function. It returns the device table, and sets *self to the object
    that the functions of the table receive:

        const NNRT_DeviceVtbl *nnrt_driver(void **self)
        {
            *self = &npu;
            return &table;
        }

    It returns NULL if the hardware is absent. The driver may be compiled with other options than the program: the table
    has its own size and version, and a driver with another NNRT_LAYOUT is refused (nnrt_hal.h, >>tables). Define
    NNRT_STATIC in a driver that contains nnrt_hal.h, so that it exports none of its functions. A driver stays loaded
    until the process ends.

    Drivers for NNAdapter's hardware layer have another table: compat/nnrt_nnadapter_driver.h loads them.

SECTIONS (search for the tag)
    >>driver_options    macros that may be defined before including
    >>driver            loading
    -- implementation --
    >>driver_load

OPTIONS
    NNRT_DRIVER_LOAD    1/0: support loading of shared libraries (dlopen); default: 1 on Linux and macOS, otherwise 0

MIT license, see LICENSE.
*/
#ifndef NNRT_DRIVER_H
#define NNRT_DRIVER_H

#include "../nnrt_hal.h"

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>driver_options */

#ifndef NNRT_DRIVER_LOAD
#if defined(__linux__) || defined(__APPLE__)
#define NNRT_DRIVER_LOAD 1
#else
#define NNRT_DRIVER_LOAD 0
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>driver */

/* Type of the function that a driver exports as "nnrt_driver". */
typedef const NNRT_DeviceVtbl *(*nnrt_driver_entry)(void **self);

/* Loads the shared library `path` and registers the device that its function nnrt_driver returns. The system's loader
   searches for a path without '/'. INVALID_FILE: the library cannot be loaded. NOT_SUPPORT: it has no such function, or
   this build does not load libraries. DEVICE_ERROR: the function returns NULL. Otherwise the code of
   nnrt_device_register. */
NNRT_API NNRT_ReturnCode nnrt_driver_load(const char *path, nnrt_error *error);

/* Loads the drivers that the environment variable `variable` lists: "fast_npu:other_npu" are libfast_npu.so and
   libother_npu.so, which the system's loader searches for. Names must not contain '/'. Calls load with each file name;
   NULL = nnrt_driver_load. If a driver fails, the others are still loaded: the function returns the first error code,
   and error holds its message. PERMISSION_DENIED, and nothing is loaded: the process runs with more privileges than the
   user who started it (setuid) and who controls the variable. */
NNRT_API NNRT_ReturnCode nnrt_driver_load_environment(const char *variable,
                                                      NNRT_ReturnCode (*load)(const char *path, nnrt_error *error),
                                                      nnrt_error *error);

#ifdef __cplusplus
}
#endif

#endif /* NNRT_DRIVER_H */

/* ================================================================================================================ */
#if defined(NNRT_IMPLEMENTATION) && !defined(NNRT_DRIVER_IMPLEMENTED)
#define NNRT_DRIVER_IMPLEMENTED

#include "../nnrt_hal.h" /* its implementation, if only its declarations were included so far */

#include <stdlib.h>
#include <string.h>
#if NNRT_DRIVER_LOAD
#include <dlfcn.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/auxv.h>
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>driver_load */

NNRT_API NNRT_ReturnCode nnrt_driver_load(const char *path, nnrt_error *error)
{
#if NNRT_DRIVER_LOAD
    const NNRT_DeviceVtbl *table;
    nnrt_driver_entry entry;
    void *library, *symbol, *self = NULL;
    NNRT_ReturnCode code;
    if (path == NULL)
        return nnrt_error_set(error, NNRT_NULL_PTR, "the path of the driver is NULL");
    if ((library = dlopen(path, RTLD_NOW | RTLD_LOCAL)) == NULL)
        return nnrt_error_set(error, NNRT_INVALID_FILE, "'%s' cannot be loaded: %s", path, dlerror());
    if ((symbol = dlsym(library, "nnrt_driver")) == NULL) {
        (void)dlclose(library);
        return nnrt_error_set(error, NNRT_NOT_SUPPORT, "'%s' does not export the function nnrt_driver", path);
    }
    memcpy(&entry, &symbol, sizeof(entry)); /* ISO C does not convert object pointers to function pointers */
    if ((table = entry(&self)) == NULL)
        code = nnrt_error_set(error, NNRT_DEVICE_ERROR, "'%s' has no device: nnrt_driver returns NULL", path);
    else
        code = nnrt_device_register(table, self, error);
    if (code != NNRT_SUCCESS)
        (void)dlclose(library);
    return code;
#else
    return nnrt_error_set(error, NNRT_NOT_SUPPORT, "this build cannot load shared libraries: '%s'",
                          path != NULL ? path : "");
#endif
}

#if NNRT_DRIVER_LOAD
/* False for a setuid or setgid process, whose environment an untrusted user controls. */
static bool nnrti_driver_trusted(void)
{
#if defined(__linux__)
    return getauxval(AT_SECURE) == 0;
#else
    return getuid() == geteuid() && getgid() == getegid();
#endif
}

/* Loads the driver whose name is the first `length` characters of name. */
static NNRT_ReturnCode nnrti_driver_load_name(const char *name, size_t length,
                                              NNRT_ReturnCode (*load)(const char *path, nnrt_error *error),
                                              nnrt_error *error)
{
    char file[128];
    if (memchr(name, '/', length) != NULL)
        return nnrt_error_set(error, NNRT_INVALID_PATH, "'%s' begins with the name of a driver that contains '/'",
                              name);
    if (length > sizeof(file) - sizeof("lib.so"))
        return nnrt_error_set(error, NNRT_INVALID_PATH,
                              "'%s' begins with the name of a driver of more than %z characters", name,
                              sizeof(file) - sizeof("lib.so"));
    memcpy(file, "lib", 3);
    memcpy(file + 3, name, length);
    memcpy(file + 3 + length, ".so", 4);
    return load(file, error);
}
#endif

NNRT_API NNRT_ReturnCode nnrt_driver_load_environment(const char *variable,
                                                      NNRT_ReturnCode (*load)(const char *path, nnrt_error *error),
                                                      nnrt_error *error)
{
#if NNRT_DRIVER_LOAD
    const char *at = variable != NULL ? getenv(variable) : NULL;
    NNRT_ReturnCode code = NNRT_SUCCESS;
    if (variable == NULL)
        return nnrt_error_set(error, NNRT_NULL_PTR, "the name of the variable is NULL");
    if (at == NULL || *at == '\0')
        return NNRT_SUCCESS;
    if (!nnrti_driver_trusted())
        return nnrt_error_set(error, NNRT_PERMISSION_DENIED, "%s is ignored in a setuid program: no driver is loaded",
                              variable);
    while (*at != '\0') {
        const size_t length = strcspn(at, ":");
        if (length > 0) {
            const NNRT_ReturnCode one = nnrti_driver_load_name(at, length, load != NULL ? load : nnrt_driver_load,
                                                               code == NNRT_SUCCESS ? error : NULL);
            code = code != NNRT_SUCCESS ? code : one;
        }
        at += length + (at[length] == ':' ? 1 : 0);
    }
    return code;
#else
    (void)load;
    return nnrt_error_set(error, NNRT_NOT_SUPPORT, "this build cannot load shared libraries: %s",
                          variable != NULL ? variable : "");
#endif
}

#ifdef __cplusplus
}
#endif

#endif /* NNRT_DRIVER_IMPLEMENTED */
