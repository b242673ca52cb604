"""The stream team: batch boosters, online boosters and a mixture over them, as one learner of streams.

    p = sum_j v_j p_j,    v_j <- v_j exp(-loss of j), with a share for everyone

`mixture` and `mixing` have the average, `experts` who is in it, `rows_kept` what batch experts are refitted on.
"""
