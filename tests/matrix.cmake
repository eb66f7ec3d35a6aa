# make matrix: the header in every compiler and standard that is here, what objects hold, and baked
# sims.
# Included by CMakeLists.txt. The names of the tests say what they are about.

# initialized sims as C: the longest, so first
foreach(scalar FIXED F32 F64)
    test(bake_${scalar} sh ${here}/bake.sh ${CMAKE_C_COMPILER} ${scratch} ${root} ${scalar})
endforeach()
foreach(compiler gcc clang)
    foreach(standard c99 c11)
        test(header_${compiler}_${standard} sh ${here}/header.sh ${compiler} ${standard}
            ${scratch} ${root})
    endforeach()
    test(link_${compiler} sh ${here}/link_test.sh ${compiler} ${scratch} ${root})
endforeach()
foreach(compiler arm-none-eabi-gcc riscv64-unknown-elf-gcc avr-gcc)
    test(header_${compiler} sh ${here}/header.sh ${compiler} c99 ${scratch} ${root})
endforeach()
foreach(compiler g++ clang++)
    foreach(standard c++11 c++20)
        test(header_${compiler}_${standard} sh ${here}/header.sh ${compiler} ${standard}
            ${scratch} ${root})
    endforeach()
    test(checked_${compiler} sh ${here}/checked.sh ${compiler} ${scratch} ${root})
endforeach()
test(tables sh ${here}/tables.sh ${scratch} ${root})
test(compile sh ${here}/compile.sh ${scratch} ${root})
test(symbols sh ${here}/symbols.sh ${CMAKE_C_COMPILER} ${scratch} ${root})
test(nofloat sh ${here}/nofloat.sh ${scratch} ${root})
test(memcheck sh ${here}/memcheck.sh ${scratch} ${root})
test(stack sh ${here}/stack.sh ${CMAKE_C_COMPILER} ${scratch} ${root})
include(${here}/import/tests.cmake)
