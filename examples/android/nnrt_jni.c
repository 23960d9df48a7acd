/* nnrt_jni.c - a model for Java and Kotlin (Nnrt.java): open, run, close. Faults become exceptions with nnrt's sentence. */
#define NNRT_IMPLEMENTATION
#include "formats/nnrt_onnx.h"

#include <jni.h>
#include <stdlib.h>

typedef struct opened {
    NNRT_Model *model;
    nnrt_session *session;
} opened;

static void throw_new(JNIEnv *env, const char *type, const char *message)
{
    const jclass found = (*env)->FindClass(env, type);
    if (found != NULL)
        (*env)->ThrowNew(env, found, message);
}

static void close_model(opened *one)
{
    if (one != NULL) {
        nnrt_session_destroy(one->session);
        nnrt_model_destroy(one->model);
    }
    free(one);
}

JNIEXPORT jlong JNICALL Java_Nnrt_open(JNIEnv *env, jclass type, jstring path)
{
    const char *name = (*env)->GetStringUTFChars(env, path, NULL);
    opened *one = (opened *)calloc(1, sizeof(opened));
    nnrt_error error;
    (void)type;
    memset(&error, 0, sizeof(error));
    if (name == NULL || one == NULL || nnrt_onnx_load(&one->model, name, NULL, &error) != NNRT_SUCCESS ||
        nnrt_session_create(&one->session, one->model, NULL, &error) != NNRT_SUCCESS) {
        throw_new(env, "java/io/IOException", error.message[0] != '\0' ? error.message : "out of memory");
        close_model(one);
        one = NULL;
    }
    if (name != NULL)
        (*env)->ReleaseStringUTFChars(env, path, name);
    return (jlong)(intptr_t)one;
}

JNIEXPORT void JNICALL Java_Nnrt_run(JNIEnv *env, jclass type, jlong handle, jfloatArray input, jfloatArray output)
{
    nnrt_session *session = ((const opened *)(intptr_t)handle)->session;
    nnrt_io in = {NULL, 0, NULL}, out = {NULL, 0, NULL};
    (void)type;
    in.bytes = sizeof(float) * (size_t)(*env)->GetArrayLength(env, input);
    out.bytes = sizeof(float) * (size_t)(*env)->GetArrayLength(env, output);
    in.data = (*env)->GetFloatArrayElements(env, input, NULL);
    out.data = (*env)->GetFloatArrayElements(env, output, NULL);
    if (in.data != NULL && out.data != NULL && nnrt_run(session, &in, 1, &out, 1) != NNRT_SUCCESS)
        throw_new(env, "java/lang/IllegalArgumentException", nnrt_session_error(session));
    if (in.data != NULL)
        (*env)->ReleaseFloatArrayElements(env, input, (jfloat *)in.data, JNI_ABORT);
    if (out.data != NULL)
        (*env)->ReleaseFloatArrayElements(env, output, (jfloat *)out.data, 0);
}

JNIEXPORT void JNICALL Java_Nnrt_close(JNIEnv *env, jclass type, jlong handle)
{
    (void)env;
    (void)type;
    close_model((opened *)(intptr_t)handle);
}
