"""Many clients: the model `mix`.

`session` executes prepared statements for a client, `work` is a job's description of a mix, `steps` the files
that say what a client does and when, `program` the order of a class's statements, `client` the loop of one
client, `visitor` that of one that comes and goes, and `recorder` counts the operations. `section` starts all
clients of a process at once, each a thread, and `perform` runs the mix.
"""
