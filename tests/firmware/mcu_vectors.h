/* mcu_vectors.h - the records that mcu_vectors.c writes and mcu_vectors_main.c reads. A record has a head of
   VECTORS_HEAD words: bytes of the record, head included; kind; bytes of the plan or model; number of inputs; number of
   results; from VECTORS_SIZES on the bytes of each input and result. Plan or model, inputs and expected results follow,
   each padded to VECTORS_ALIGNMENT. */
#ifndef MCU_VECTORS_H
#define MCU_VECTORS_H

#define VECTORS_ALIGNMENT 64
#define VECTORS_PAD(bytes) (((bytes) + VECTORS_ALIGNMENT - 1) / VECTORS_ALIGNMENT * VECTORS_ALIGNMENT)
#define VECTORS_HEAD 96
#define VECTORS_SIZES 5
enum { VECTORS_PLAN = 1, VECTORS_MODEL = 2 };

/* Bytes on the target: of a record; of its results; of the arena, with the tables of a model. */
#define VECTORS_RECORD 131072
#define VECTORS_RESULTS 32768
#define VECTORS_MEMORY 196608

#endif
