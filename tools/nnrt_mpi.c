/*
nnrt_mpi.c - nnrt batch for MPI: the shard is the rank. After all ranks are done, rank 0 joins the chunks.

    mpicc -std=c99 -O2 -I. tools/nnrt_mpi.c -o nnrt-mpi -lm -lpthread
    mpirun -n 8 nnrt-mpi batch MODEL --input PATH --output DIR

Ranks exchange only their exit status. If a rank is killed, mpirun ends all; the same command continues.
*/
#define NNRT_TOOL_NO_MAIN
#include "nnrt.c"

#include <mpi.h>

/* The worst status of all ranks. A rank that waits does not use its processor, which another rank may need. */
static int mpi_wait(int status)
{
    const struct timespec pause = {0, 5000000};
    MPI_Request request;
    int worst = CLI_FAILED, done = 0;
    if (MPI_Iallreduce(&status, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &request) != MPI_SUCCESS)
        return cli_fail("MPI_Iallreduce failed");
    while (MPI_Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done)
        (void)nanosleep(&pause, NULL);
    return done ? worst : cli_fail("MPI_Test failed");
}

int main(int argc, char **argv)
{
    int status, rank = 0, size = 1;
    if (argc < 2 || strcmp(argv[1], "batch") != 0)
        return cli_usage("nnrt-mpi runs 'nnrt-mpi batch' only; nnrt has the other commands");
    if (MPI_Init(&argc, &argv) != MPI_SUCCESS || MPI_Comm_rank(MPI_COMM_WORLD, &rank) != MPI_SUCCESS ||
        MPI_Comm_size(MPI_COMM_WORLD, &size) != MPI_SUCCESS)
        return cli_fail("MPI_Init failed");
    cli_ranks.rank = (uint32_t)rank;
    cli_ranks.size = (uint32_t)size;
    cli_ranks.wait = mpi_wait;
    status = cli_program(argc, argv);
    (void)MPI_Finalize();
    return status;
}
