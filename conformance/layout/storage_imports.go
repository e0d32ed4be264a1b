package layout

// storageShared has the packages of storage that its rooms may import, with the reason.
// storage itself, which constructs the rooms, and storagetest may import any.
var storageShared = map[string]string{
	"storage/engine":     "connections, transactions and statements",
	"storage/membership": "lists and segments read members alike and write one log",
	"storage/slots":      "attributes write the columns that predicates read",
}

// storageRefusal returns why one folder of storage must not import another, "" if it
// may. It does not apply to tests.
func storageRefusal(folder, target string) string {
	switch {
	case folder == "storage", folder == "storage/storagetest":
		return ""
	case folder == "storage/engine" || folder == "storage/schema":
		if target != "core" && target != "core/jobs" && target != "storage/schema" {
			return "the engine knows no domain"
		}
	case top(target) == "storage" && storageShared[target] == "":
		return "a room of storage imports no other room"
	}
	return ""
}
