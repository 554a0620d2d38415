"""The numbers of TurboBFS (Tables I to III) and TurboBC (Tables 1 to 4) for each graph: the depth d, and MTEPS.

The GPU of both papers was a Titan Xp. MTEPS are arcs divided by the time of one source, in millions per second. Each
row has the paper's best algorithm for the graph. d includes the last, empty level.
"""

from __future__ import annotations

_TEXT = """
TurboBFS I    Hollinger/g7jac100sc                14    769
TurboBFS I    Hollinger/g7jac120sc                14    792
TurboBFS I    Hollinger/g7jac140sc                15   1132
TurboBFS I    Hollinger/g7jac160sc                16   1094
TurboBFS I    Hollinger/g7jac180sc                17   1068
TurboBFS I    Hollinger/g7jac200sc                17   1047
TurboBFS I    SNAP/cit-HepPh                      33    703
TurboBFS I    SNAP/email-Enron                    10    613
TurboBFS I    DIMACS10/delaunay_n15               84    109
TurboBFS I    DIMACS10/delaunay_n16              110    164
TurboBFS I    DIMACS10/delaunay_n17              157    161
TurboBFS I    DIMACS10/delaunay_n18              197    225
TurboBFS I    DIMACS10/delaunay_n19              306    115
TurboBFS I    Newman/astro-ph                     10    808
TurboBFS I    DIMACS10/ri2010                     66     90
TurboBFS I    DIMACS10/me2010                    108    112
TurboBFS I    DIMACS10/az2010                    128    150
TurboBFS I    DIMACS10/nc2010                    207    104
TurboBFS I    DIMACS10/fl2010                    151    165
TurboBFS I    DIMACS10/ca2010                    216    126
TurboBFS I    LAW/enron                            8    690
TurboBFS I    Pajek/Wordnet3                      20    190
TurboBFS I    Sandia/ASIC_100ks                   33    482
TurboBFS I    Sandia/ASIC_320ks                   31    870
TurboBFS I    Sandia/ASIC_680ks                   31    776
TurboBFS I    DIMACS10/smallworld                  9   2000
TurboBFS I    DIMACS10/luxembourg_osm           1035     20
TurboBFS I    DIMACS10/netherlands_osm          1796     26
TurboBFS I    Pajek/internet                      21    345
TurboBFS I    SNAP/amazon0302                     72    363
TurboBFS I    SNAP/amazon0312                     45    593
TurboBFS I    SNAP/amazon0601                     36    847
TurboBFS I    SNAP/amazon0505                     36    839
TurboBFS I    LAW/amazon-2008                     32    992
TurboBFS I    SNAP/web-NotreDame                  52    454
TurboBFS I    SNAP/roadNet-PA                    542     71
TurboBFS I    SNAP/roadNet-TX                    723     62
TurboBFS I    SNAP/roadNet-CA                    555     87
TurboBFS II   Mycielski/mycielskian12              3   2036
TurboBFS II   Mycielski/mycielskian13              3   4092
TurboBFS II   Mycielski/mycielskian14              3   6159
TurboBFS II   Mycielski/mycielskian15              3  11111
TurboBFS II   Mycielski/mycielskian16              3  16691
TurboBFS II   Mycielski/mycielskian17              3  22277
TurboBFS II   Mycielski/mycielskian18              3  31347
TurboBFS II   Mycielski/mycielskian19              3  39778
TurboBFS II   Pajek/EAT_SR                         7   1085
TurboBFS II   DIMACS10/kron_g500-logn16            6   4466
TurboBFS II   DIMACS10/kron_g500-logn17            6   4447
TurboBFS II   DIMACS10/kron_g500-logn18            6   5292
TurboBFS II   DIMACS10/kron_g500-logn19            6   5808
TurboBFS II   DIMACS10/kron_g500-logn20            6   3984
TurboBFS II   DIMACS10/kron_g500-logn21            6   2642
TurboBFS II   SNAP/soc-Epinions1                  11    848
TurboBFS II   Sorensen/Linux_call_graph           45    432
TurboBFS II   SNAP/web-Stanford                  147    160
TurboBFS II   SNAP/com-LiveJournal                14   1286
TurboBFS II   SNAP/com-Orkut                       8   1698
TurboBFS II   SNAP/soc-LiveJournal1               15    940
TurboBFS II   MAWI/mawi_201512012345              11   1330
TurboBFS II   MAWI/mawi_201512020000              11   1357
TurboBFS III  GenBank/kmer_P1a                   487    110
TurboBFS III  GenBank/kmer_A2a                   515    109
TurboBFS III  GenBank/kmer_V1r                   342    240
TurboBFS III  LAW/it-2004                         50    892
TurboBFS III  SNAP/twitter7                       13   1537
TurboBFS III  GAP/GAP-twitter                     15    811
TurboBFS III  GAP/GAP-web                         56   1038
TurboBFS III  LAW/sk-2005                         54   1147
TurboBC 1     Hollinger/mark3jac060sc             42     82
TurboBC 1     Hollinger/mark3jac080sc             52     82
TurboBC 1     Hollinger/mark3jac100sc             62     82
TurboBC 1     Hollinger/mark3jac120sc             72     78
TurboBC 1     Hollinger/g7jac140sc                15    472
TurboBC 1     Hollinger/g7jac160sc                16    469
TurboBC 1     DIMACS10/delaunay_n15               84     42
TurboBC 1     DIMACS10/delaunay_n16              110     55
TurboBC 1     DIMACS10/luxembourg_osm           1035      5
TurboBC 1     Pajek/internet                      21    138
TurboBC 4     GenBank/kmer_V1r                   324     33
TurboBC 4     LAW/it-2004                         50    371
TurboBC 4     GAP/GAP-twitter                     15    201
TurboBC 4     LAW/sk-2005                         54    287
TurboBC 2     Hollinger/g7jac180sc                17    467
TurboBC 2     Hollinger/g7jac200sc                18    493
TurboBC 2     Hollinger/mark3jac140sc             82     76
TurboBC 2     DIMACS10/smallworld                  9   1000
TurboBC 2     Sandia/ASIC_100ks                   33    215
TurboBC 2     Sandia/ASIC_680ks                   31    353
TurboBC 2     SNAP/com-Youtube                    14    616
TurboBC 2     MAWI/mawi_201512012345              10    509
TurboBC 2     MAWI/mawi_201512020000              11    521
TurboBC 2     MAWI/mawi_201512020030              12    549
TurboBC 3     Mycielski/mycielskian15              3   6536
TurboBC 3     Mycielski/mycielskian16              3   9819
TurboBC 3     Mycielski/mycielskian17              3  12689
TurboBC 3     Mycielski/mycielskian18              3  16267
TurboBC 3     Mycielski/mycielskian19              3  18470
TurboBC 3     DIMACS10/kron_g500-logn18            6   2433
TurboBC 3     DIMACS10/kron_g500-logn19            6   2504
TurboBC 3     DIMACS10/kron_g500-logn20            6   1528
TurboBC 3     DIMACS10/kron_g500-logn21            6    943
"""

# (table, graph in the collection, d, MTEPS)
ROWS = tuple(
    (f"{paper} {table}", graph, int(depth), int(mteps))
    for paper, table, graph, depth, mteps in map(str.split, _TEXT.strip().splitlines())
)
