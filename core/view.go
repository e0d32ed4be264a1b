package core

import "reflect"

// The viewers are generic, so that the return type of the method determines the schema.
// Reflection finds the method once, when the operation is declared.

func viewMethod(s Surface) string {
	if s == Agent {
		return "AgentView"
	}
	return "RESTView"
}

// viewer tells how results of one type are shown on one surface.
type viewer struct {
	shown  reflect.Type
	method int // -1 when the result is shown as it is
}

// viewerOf returns how results of the type are shown on the surface. It panics, at
// declaration, for a view method with a wrong signature.
func viewerOf(out reflect.Type, s Surface) viewer {
	m, ok := out.MethodByName(viewMethod(s))
	if !ok {
		return viewer{shown: out, method: -1}
	}
	if m.Type.NumIn() != 1 || m.Type.NumOut() != 1 {
		panic("core: " + out.String() + "." + m.Name + " must take nothing and return one value")
	}
	return viewer{shown: m.Type.Out(0), method: m.Index}
}

func (v viewer) view(out any) any {
	if v.method < 0 {
		return out
	}
	return reflect.ValueOf(out).Method(v.method).Call(nil)[0].Interface()
}
