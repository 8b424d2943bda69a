"""Many clients: the model `mix`.

`session` is what a client does with prepared statements, `work` what a job says of a mix, `steps` the files
that say what a client does and when, `program` the order of a class's statements, `client` the loop of one
client, `recorder` what became of it, and `section` lets all of them go at once, each a thread.
"""
