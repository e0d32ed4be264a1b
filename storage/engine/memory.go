package engine

import "context"

// TxMemory keeps a value of type T until the transaction ends, such as data that need not
// be read again. Each use is a package variable, whose address is the key. The zero
// TxMemory is ready for use.
type TxMemory[T any] struct{ _ byte }

// Of returns a pointer to the value that the transaction of ctx keeps, initially the zero
// T. It returns nil outside a transaction. A transaction that is retried starts with the
// zero T.
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
