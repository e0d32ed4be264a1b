package layout

// storageShared has the packages of storage that the package of every domain in storage may
// import, with the reason. storage itself and storagetest may import all packages.
var storageShared = map[string]string{
	"storage/engine":     "connections, transactions and statements",
	"storage/membership": "lists and segments read members alike and write one log",
	"storage/slots":      "attributes, contacts and bulk writes store values by one registry, and predicates read the columns",
}

// storageEdges has pairs of domain packages of storage of which the first may import the
// second, with the reason.
var storageEdges = map[[2]string]string{
	{"storage/bulk", "storage/contacts"}: "a bulk write writes the records and choices of contacts, many at once",
}

// storageRefusal returns why one folder of storage must not import another, or "" if it
// may. It does not apply to tests.
func storageRefusal(folder, target string) string {
	switch {
	case folder == "storage", folder == "storage/storagetest":
		return ""
	case folder == "storage/engine" || folder == "storage/schema":
		if target != "core" && target != "core/jobs" && target != "storage/schema" {
			return "the engine knows no domain"
		}
	case top(target) == "storage" && storageShared[target] == "" && storageEdges[[2]string{folder, target}] == "":
		return "a room of storage imports no other room"
	}
	return ""
}
