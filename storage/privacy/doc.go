// Package privacy is the storage of core/privacy. It makes its statements from the register of
// that package, so a table that is added there is exported and erased without SQL of its own.
//
// Tables in which SQL alone finds the rows of a person are read and changed by one statement. The rows of the
// others, which only mention a person in a text, are first narrowed down by SQL, then checked
// one by one, and changed by their key.
package privacy
