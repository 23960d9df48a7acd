/*
place.h - placement: the device that auto selected for each node, and why it is not the preferred one.
Part of tools/nnrt.c.
*/
#ifndef NNRT_TOOL_PLACE_H
#define NNRT_TOOL_PLACE_H

#include "../../nnrt.h"
#include "../io/text.h"

/* Placement of one node. */
typedef struct cli_place {
    char device[160], reason[NNRT_MESSAGE_BYTES]; /* device "": the node is folded into constants */
    uint32_t part;                                /* NNRT_NO_TENSOR: none */
} cli_place;

/* Placement of all nodes, in their order; data NULL, count 0: not requested. */
typedef struct cli_places {
    cli_place *data;
    uint32_t count;
    bool told;
} cli_places;

static void cli_places_listen(void *user, const nnrt_placement *p)
{
    cli_places *all = (cli_places *)user;
    if (p->node == NNRT_NO_TENSOR)
        cli_note("--keep: %s", p->reason);
    if (p->node >= all->count)
        return;
    snprintf(all->data[p->node].device, sizeof(all->data->device), "%s", p->device);
    snprintf(all->data[p->node].reason, sizeof(all->data->reason), "%s", p->reason);
    all->data[p->node].part = p->part;
    all->told = true;
}

static void cli_places_node(const NNRT_Model *m, uint32_t i, const cli_place *p, bool json)
{
    const NNRT_Node *n = &m->nodes.data[i];
    const nnrt_op *op = nnrt_op_find(n->nodeType);
    if (json) {
        printf("%s{\"node\":%u,\"name\":", i > 0 ? "," : "", (unsigned)i);
        cli_json_text(n->name != NULL ? n->name : "");
        printf(",\"operator\":\"%s\",\"device\":", op != NULL ? op->name : "");
        cli_json_text(p->device);
        if (p->part != NNRT_NO_TENSOR)
            printf(",\"part\":%u", (unsigned)p->part);
        fputs(",\"reason\":", stdout);
        cli_json_text(p->reason);
        putchar('}');
        return;
    }
    printf("%s%5u  ", i > 0 ? "            " : "placement   ", (unsigned)i);
    cli_put_name(stdout, n->name != NULL ? n->name : "");
    printf("  %s  ", op != NULL ? op->name : "");
    cli_put_name(stdout, p->device[0] != '\0' ? p->device : "before a run");
    if (p->part != NNRT_NO_TENSOR)
        printf("  part %u", (unsigned)p->part);
    fputs(p->reason[0] != '\0' ? "  " : "", stdout);
    cli_put_name(stdout, p->reason);
    putchar('\n');
}

/* device: the session's device, which runs all nodes if no placement was reported. */
static void cli_places_settle(cli_places *all, const char *device)
{
    for (uint32_t i = 0; i < all->count && !all->told; i++) {
        snprintf(all->data[i].device, sizeof(all->data->device), "%s", device);
        all->data[i].part = 0;
    }
}

static void cli_places_print(const cli_places *all, const NNRT_Model *m, bool json)
{
    if (all->data == NULL)
        return;
    fputs(json ? ",\"placement\":[" : "", stdout);
    for (uint32_t i = 0; i < all->count && i < m->nodes.count; i++)
        cli_places_node(m, i, &all->data[i], json);
    fputs(json ? "]" : "", stdout);
}

/* Tensor names separated by ','; names that the text format of --keep cannot represent are omitted. */
static void cli_record_names(const NNRT_Model *m, const NNRT_Uint32List *list)
{
    bool first = true;
    for (uint32_t i = 0; i < list->count; i++) {
        const char *name = list->data[i] != NNRT_NO_TENSOR ? m->allTensors.data[list->data[i]].name : NULL;
        if (name == NULL || *name == '\0' || strpbrk(name, ",:\r\n") != NULL)
            continue;
        printf("%s%s", first ? "" : ",", name);
        first = false;
    }
}

/* Prints node i as a line of the --keep format. */
static void cli_record_print(const NNRT_Model *m, uint32_t i)
{
    const nnrt_op *op = nnrt_op_find(m->nodes.data[i].nodeType);
    if (op == NULL)
        return;
    printf("%s:", op->name);
    cli_record_names(m, &m->nodes.data[i].inputIndex);
    putchar(':');
    cli_record_names(m, &m->nodes.data[i].outputIndex);
    putchar('\n');
}

/* Prints each node as a line of the --keep format. */
static void cli_records_print(const NNRT_Model *m)
{
    for (uint32_t i = 0; i < m->nodes.count; i++)
        cli_record_print(m, i);
}

#endif
