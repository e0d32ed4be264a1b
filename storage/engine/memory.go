package engine

import "context"

// TxMemory keeps a value of type T until the transaction ends, for example data that need
// not be read again. A TxMemory must be a package variable, because its address is the key
// of the value. The zero TxMemory is ready for use.
type TxMemory[T any] struct{ _ byte }

// Of returns a pointer to m's value in the transaction of ctx. Each attempt of a
// transaction begins with the zero value of T. Outside a transaction Of returns nil.
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
