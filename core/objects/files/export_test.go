package files

// Unpack lets every object have a file of its own, as on systems without packs.
func (f *Files) Unpack() { f.packing = false }

// Packs reports whether small objects are kept in packs.
func (f *Files) Packs() bool { return f.packing }

// Locate and Located make and read keys of objects in packs.
func Locate(key, pack string, offset int64) string { return locate(key, locator{pack, offset}) }

func Located(key string) (stored, pack string, offset int64, ok bool) {
	stored, l, ok := located(key)
	return stored, l.pack, l.offset, ok
}
