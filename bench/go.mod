module github.com/leatdata/leat/bench

go 1.26.8

require github.com/leatdata/leat v0.0.0

replace github.com/leatdata/leat => ../
