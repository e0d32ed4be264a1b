package files

// Unpack lets every object have a file of its own, as on systems without segments.
func (f *Files) Unpack() { f.packs = false }

// Packs reports whether small objects are kept in segments.
func (f *Files) Packs() bool { return f.packs }

// Locate and Located make and read keys of objects in segments.
func Locate(key, segment string, offset int64) string { return locate(key, locator{segment, offset}) }

func Located(key string) (stored, segment string, offset int64, ok bool) {
	stored, l, ok := located(key)
	return stored, l.segment, l.offset, ok
}
