// ICU's data in English alone, in programs that are linked statically for a package.
//
// Libraries import Foundation, and Foundation contains ICU's data of all languages: 34 MB in each program. Scripts/deb
// runs packaging/icu-data, which extracts English from that data and writes it as assembly. OOB_ICU_DATA is the path of
// that assembly, which defines ICU's data under the name that ICU looks for. The linker therefore leaves the full data
// out. Other builds have the full data, and this file is empty in them.

#ifdef OOB_ICU_DATA
__asm__(".include \"" OOB_ICU_DATA "\"");
#endif
