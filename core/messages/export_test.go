package messages

// Waiting is how many deliveries wait for the next transaction.
func (b *Batch) Waiting() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.waiting)
}
