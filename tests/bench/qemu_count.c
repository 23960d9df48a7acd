/* A plugin of qemu that counts the instructions of a program. Prints "instructions N" at its end. Declares the part of
   qemu's interface for plugins (version 1) that it needs, because Debian has no package of qemu-plugin.h. For
   tests/bench/bench_arm.py:
       gcc -shared -fPIC -o count.so tests/bench/qemu_count.c && qemu-aarch64 -plugin ./count.so PROGRAM */
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef uint64_t plugin_id;
typedef struct translation_block translation_block;

extern void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id id, void (*f)(plugin_id id, translation_block *block));
extern void qemu_plugin_register_vcpu_tb_exec_inline(translation_block *block, int operation, void *to, uint64_t by);
extern void qemu_plugin_register_atexit_cb(plugin_id id, void (*f)(plugin_id id, void *user), void *user);
extern size_t qemu_plugin_tb_n_insns(const translation_block *block);

int qemu_plugin_version = 1;
int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv);

static uint64_t instructions;

/* Each execution of a translated block adds its instructions; operation 0 is an addition of 64 bits. */
static void translated(plugin_id id, translation_block *block)
{
    (void)id;
    qemu_plugin_register_vcpu_tb_exec_inline(block, 0, &instructions, qemu_plugin_tb_n_insns(block));
}

static void ended(plugin_id id, void *user)
{
    (void)id;
    (void)user;
    fprintf(stderr, "instructions %" PRIu64 "\n", instructions);
}

int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv)
{
    (void)info;
    (void)argc;
    (void)argv;
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, ended, NULL);
    return 0;
}
