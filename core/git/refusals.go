package git

import (
	"fmt"

	"github.com/mailhelm/mailhelm/core"
)

// Refuse returns a [Refusal] with a formatted reason.
func Refuse(format string, arguments ...any) error {
	return &Refusal{Reason: fmt.Sprintf(format, arguments...)}
}

// The refusals below are those of hosts of any kind.

// RefuseNoPrefix is for a path prefix that the default branch does not have.
func RefuseNoPrefix(branch, prefix string) error {
	return Refuse("The branch %s has no folder %s, which is the path prefix.", core.Quote(branch), core.Quote(prefix))
}

// RefusePrefix is for a path prefix with a part that is no folder.
func RefusePrefix(prefix, part string, kind EntryKind) error {
	return Refuse("In the path prefix %s, %s is not a folder but %s.", core.Quote(prefix), core.Quote(part), kind)
}

// RefuseEntries is for more than [MaxEntries] files below the path prefix.
func RefuseEntries(branch string) error {
	return Refuse("The branch %s has more than %d files below the path prefix. Name the folder of the definitions as the path prefix.", core.Quote(branch), MaxEntries)
}

// RefuseEmpty is for a proposal that changes nothing.
func RefuseEmpty(branch string) error {
	return Refuse("The branch %s has this content already, so there is nothing to propose.", core.Quote(branch))
}

// RefusePath is for a proposal with a path that no file of a bundle may have.
func RefusePath(name, reason string) error {
	return Refuse("The file %s of the change %s.", core.Quote(name), reason)
}

// RefuseBelow is for a proposal with files below a path that is no folder.
func RefuseBelow(at string, kind EntryKind, branch string) error {
	return Refuse("The change has files in %s, which is %s in the branch %s.", core.Quote(at), kind, core.Quote(branch))
}

// RefuseNoFile is for a proposal that writes a path that is no file.
func RefuseNoFile(name, branch string) error {
	return Refuse("The change writes the file %s, which is no file in the branch %s.", core.Quote(name), core.Quote(branch))
}
