package diagram

// icons has the outline of each icon in a square of 24 units, inside of a
// circle.
var icons = map[string]string{
	"entry":         "M13 5l-6 8h5l-1 6 6-8h-5z",
	"send":          "M6 8h12v8H6zM6 8l6 5 6-5",
	"wait":          "M12 7v5l3 2M12 5.500a6.500 6.500 0 1 0 .01 0z",
	"wait_until":    "M7 8h10v9H7zM7 11h10M10 6v3M14 6v3",
	"wait_for":      "M8 6h8M8 18h8M9 6c0 4 6 8 6 12M15 6c0 4-6 8-6 12",
	"if":            "M12 6l6 6-6 6-6-6z",
	"split":         "M12 6v4M12 10l-5 4v4M12 10l5 4v4",
	"hold_out":      "M9 8v8M15 8v8",
	"repeat":        "M17 10a5.500 5.500 0 0 0-10 0M7 7v3h3M7 14a5.500 5.500 0 0 0 10 0M17 17v-3h-3",
	"set_attribute": "M7 17l1-4 7-7 3 3-7 7zM13 8l3 3",
	"add_to_list":   "M7 8h6M7 12h6M7 16h4M16 13v6M13 16h6",
}
