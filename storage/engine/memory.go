package engine

import "context"

// TxMemory keeps a value of type T for the length of a transaction: what a room has read
// in it and need not read again. Each room declares its own as a package variable, whose
// address names the value. The zero TxMemory is ready for use.
type TxMemory[T any] struct{ _ byte }

// Of returns the value that the transaction of ctx keeps, the zero T at first. It returns
// nil outside a transaction. A transaction that runs again begins with the zero T.
func (m *TxMemory[T]) Of(ctx context.Context, db *DB) *T {
	t := db.transaction(ctx)
	if t == nil {
		return nil
	}
	if kept, ok := t.kept[m].(*T); ok {
		return kept
	}
	if t.kept == nil {
		t.kept = map[any]any{}
	}
	kept := new(T)
	t.kept[m] = kept
	return kept
}
