package messages

// Waiting returns the number of calls of Record that wait for the next transaction.
func (b *Batch) Waiting() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.waiting)
}
