package inboxes

// apart runs f in a goroutine of its own and waits until it has ended. A panic of f continues in
// the caller.
//
// Reads of the database need a large stack, and a goroutine keeps its stack after them. So a
// poll reads apart, and waits with a small stack: many thousands may wait at the same time.
func apart(f func()) {
	ended := make(chan any, 1)
	go func() {
		defer func() { ended <- recover() }()
		f()
	}()
	if panicked := <-ended; panicked != nil {
		panic(panicked)
	}
}
