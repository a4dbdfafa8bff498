package main

import (
	"net"
	"runtime"
	"sync"
)

// rawAsks is raw for callers that each wait for their own answer: a queue that
// one writer empties, answers handed out in the order of the questions, and
// nothing else. It is what any layer that serves such callers has to do at least.
type rawAsks struct {
	tells   *raw
	queue   sync.Mutex
	wake    *sync.Cond
	pending []byte
	// spare is the writer's other buffer.
	spare   []byte
	waiting chan chan error
	slots   sync.Pool
}

func dialRawAsks(addr string) (client, error) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	r, err := dialRaw(addr)
	if err != nil {
		return nil, err
	}
	a := &rawAsks{tells: r.(*raw), waiting: make(chan chan error, 4096)}
	a.wake = sync.NewCond(&a.queue)
	a.slots.New = func() any { return make(chan error, 1) }
	in := newRaw(conn)
	go a.write(conn)
	go func() {
		for {
			_, err := in.read()
			(<-a.waiting) <- err
			if err != nil {
				return
			}
		}
	}()
	return a, nil
}

func (a *rawAsks) write(conn net.Conn) {
	for {
		a.queue.Lock()
		for len(a.pending) == 0 {
			a.wake.Wait()
		}
		a.queue.Unlock()
		runtime.Gosched()
		a.queue.Lock()
		chunk := a.pending
		a.pending = a.spare[:0]
		a.queue.Unlock()
		if _, err := conn.Write(chunk); err != nil {
			return
		}
		a.spare = chunk
	}
}

func (a *rawAsks) ask(payload []byte) error {
	slot := a.slots.Get().(chan error)
	a.queue.Lock()
	n := len(payload)
	a.pending = append(a.pending, byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
	a.pending = append(a.pending, payload...)
	a.waiting <- slot
	a.wake.Signal()
	a.queue.Unlock()
	err := <-slot
	a.slots.Put(slot)
	return err
}

func (a *rawAsks) tell(payload []byte) error { return a.tells.tell(payload) }

func (a *rawAsks) received() (int64, error) { return a.tells.received() }
