"""Many clients: the model `mix`.

`session` is what a client does with prepared statements, `work` what a job says of a mix, `steps` the files
that say what a client does and when, `program` the order of a class's statements, `client` the loop of one
client, `visitor` that of one that comes and goes, and `recorder` what became of it. `section` lets all
clients of a process go at once, each a thread; `processes` lets several processes go, `client_process` is the
life of one of them. `perform` is the whole of it.
"""
