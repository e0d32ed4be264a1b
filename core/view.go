package core

import "reflect"

// The viewers are generic so that their return type is the schema. Reflection
// finds the method by name; viewType fails a declaration whose method has the
// wrong shape, so view can call it without looking again.

func viewMethod(s Surface) string {
	if s == Agent {
		return "AgentView"
	}
	return "RESTView"
}

// viewType is the type whose schema describes out on the surface.
func viewType(out reflect.Type, s Surface) reflect.Type {
	m, ok := out.MethodByName(viewMethod(s))
	if !ok {
		return out
	}
	if m.Type.NumIn() != 1 || m.Type.NumOut() != 1 {
		panic("core: " + out.String() + "." + m.Name + " must take nothing and return one value")
	}
	return m.Type.Out(0)
}

// view is out as the surface shows it.
func view(s Surface, out any) any {
	v := reflect.ValueOf(out)
	if !v.IsValid() {
		return out
	}
	m := v.MethodByName(viewMethod(s))
	if !m.IsValid() {
		return out
	}
	return m.Call(nil)[0].Interface()
}
